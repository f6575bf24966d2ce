#!/usr/bin/env python3
"""Plans that several tests look at, each searched for once: every example on h100-sxm5, and every third one on another
machine of four in turn; where NAPKIN_EVERY is set, every one.

    tests/planned/planned.py --forms build/release/napkin_forms --napkin build/release/napkin --folder FOLDER

`napkin_forms` writes what the commands would print of each, into FOLDER/EXAMPLE/MACHINE. Of a few plans the commands are
run, and must print just that. Tests that are given the folder read it, and without it they run the commands.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MACHINES = ["h100-sxm5", "a100-sxm4-80", "h200-sxm", "rtx4090", "rtx3090"]
EXAMPLES = sorted(one for one in os.listdir(os.path.join(ROOT, "examples")) if one.endswith(".nap"))
COMPARED = ["attention.nap", "causal_linear_attention.nap", "chained_matmul.nap", "matmul.nap", "matmul_bias_relu.nap"]


def machines_of(example):
    """Those that an example is planned for."""
    at = EXAMPLES.index(os.path.basename(example))
    both = [MACHINES[0], MACHINES[1 + at // 3 % 4]]
    return both if at % 3 == 0 or "NAPKIN_EVERY" in os.environ else both[:1]


def read(folder, example, machine, form):
    """A form of a plan; None where nobody planned it."""
    path = os.path.join(folder or "", os.path.basename(example), machine, form)
    if not folder or not os.path.exists(path):
        return None
    with open(path) as file:
        return file.read()


def printed(napkin, *words):
    ran = subprocess.run([napkin, *words], capture_output=True, text=True, timeout=600)
    if ran.returncode:
        raise RuntimeError("%s: exit %d\n%s" % (" ".join(words), ran.returncode, ran.stderr))
    return ran


def differences(options, example, machine):
    """Forms that are not what the commands print."""
    path, on = os.path.join(ROOT, "examples", example), ("--target", machine)
    found = {form: printed(options.napkin, "analyze", path, *on, "--format", form, "-q").stdout for form in ("json", "text", "html")}
    with tempfile.TemporaryDirectory() as folder:
        said = printed(options.napkin, "emit", "cuda", path, *on, "-o", folder).stderr
        found["notes"] = "".join(line for line in said.splitlines(True) if line.startswith("note: "))
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                found[name] = file.read()
    return ["%s on %s: %s is not what the command prints" % (example, machine, form)
            for form, text in found.items() if text != read(options.folder, example, machine, form)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=os.path.join(ROOT, "build/release/napkin"))
    parser.add_argument("--forms", default=os.path.join(ROOT, "build/release/napkin_forms"))
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    for example in EXAMPLES:
        subprocess.run([options.forms, os.path.join(options.folder, example), os.path.join(ROOT, "examples", example),
                        *machines_of(example)], check=True)
    found = [line for example in COMPARED for line in differences(options, example, machines_of(example)[-1])]
    print("\n".join(found + ["%d plans, %d forms not as the commands print them" % (sum(len(machines_of(one)) for one in EXAMPLES), len(found))]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
