"""What is found there: tools, the device, and for which architecture kernels are built."""
import os
import platform
import subprocess
import sys

SCRIPT = """import json
found = {}
for name in ("torch", "triton", "numpy"):
    try:
        module = __import__(name)
        found[name] = module.__version__
        if name == "torch":
            found["cuda"] = module.version.cuda
            found["cudnn"] = module.backends.cudnn.version()
    except Exception as problem:
        found[name] = None
print(json.dumps(found))
"""


def packages():
    """Versions of what Python has there, asked in a process of its own."""
    import json
    try:
        made = subprocess.run([sys.executable, "-B", "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, timeout=90)
        return json.loads(made.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return {}


def version_of(nvcc):
    if not nvcc:
        return None
    made = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return made.stdout.strip().splitlines()[-1] if made.stdout.strip() else "?"


def machine():
    return {"host": platform.platform(), "python": platform.python_version(), "cores": len(os.sched_getaffinity(0))}


def architecture(wanted, smi, target):
    """sm_90a and the like: as asked for, by the device, or by the profile."""
    if wanted:
        return wanted
    if smi:
        try:
            made = subprocess.run([smi, "--query-gpu=compute_cap", "--format=csv,noheader"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, timeout=20).stdout.strip().splitlines()
            digits = made[0].strip().replace(".", "") if made else ""
            if digits.isdigit():
                return f"sm_{digits}" + ("a" if digits == "90" else "")
        except (OSError, subprocess.TimeoutExpired):
            pass
    return target.get("cuda_architecture") or "sm_90a"
