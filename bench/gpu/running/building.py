"""Builds shared libraries with nvcc, many side by side, most important first; what is built already stays."""
import concurrent.futures
import glob
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import time

LIMIT_S = 240


def find_nvcc(wanted):
    for path in [wanted] if wanted else [shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]:
        if path and os.access(path, os.X_OK):
            return str(pathlib.Path(path).resolve()) if "/" in path else path
    return None


def runtime_of(nvcc):
    """The runtime beside nvcc, which libraries share: an error that one leaves behind is then seen by all."""
    folder = pathlib.Path(nvcc).parent.parent
    places = ("lib64/libcudart.so*", "targets/*/lib/libcudart.so*")
    return sorted(file for place in places for file in glob.glob(str(folder / place)))


class Builder:
    def __init__(self, pack, nvcc, architecture, jobs, note):
        self.pack, self.nvcc, self.architecture, self.note = pack, nvcc, architecture, note
        self.folder = pack / "build" / architecture
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.futures, self.done, self.processes = {}, {}, set()
        self.stopped = False
        self.runtime = runtime_of(nvcc) if nvcc else []
        for file in self.runtime:
            if not (self.folder / pathlib.Path(file).name).exists():
                shutil.copy(file, self.folder)

    def command(self, source, debug, library):
        generate = f"arch={self.architecture.replace('sm_', 'compute_')},code={self.architecture}"  # and for no other
        words = [self.nvcc, "-gencode", generate, "-std=c++17", "-O3", "-shared", "-Xcompiler", "-fPIC",
                 "-I", str(self.pack / "cuda"), str(source), "-o", str(library)]
        words += ["-DNAPKIN_DEBUG"] if debug else []
        return words + (["-cudart", "shared", "-Xlinker", "-rpath=$ORIGIN"] if self.runtime else [])

    def source_of(self, key):
        """A key is `support`, `micro NAME`, `reference NAME`, or `kernel ID` or `debug ID`."""
        kind, _, name = key.partition(" ")
        if kind == "support":
            return self.pack / "cuda/support.cu"
        if kind == "micro":
            return self.pack / f"cuda/{name}.cu"
        if kind == "reference":
            return self.pack / f"references/{name}.cu"
        return next((self.pack / "sources" / name).glob("*.cu"))

    def file_of(self, key):
        return self.folder / (key.replace(" ", "-") + ".so")

    def ask(self, key):
        """Begins to build it, once."""
        if key not in self.futures:
            self.futures[key] = self.pool.submit(self.build, key)
        return self.futures[key]

    def stamp(self, key):
        text = hashlib.sha256(self.source_of(key).read_bytes())
        for header in sorted((self.pack / "cuda").glob("*.h")):
            text.update(header.read_bytes())
        return text.hexdigest()

    def build(self, key):
        library, stamp = self.file_of(key), self.stamp(key)
        mark = library.with_suffix(".stamp")
        if library.exists() and mark.exists() and mark.read_text() == stamp:
            return self.finished(key, True, 0.0, "built before")
        if not self.nvcc:
            return self.finished(key, False, 0.0, "nvcc is not there, and it was not built before")
        if self.stopped:
            return self.finished(key, False, 0.0, "no time left")
        began = time.monotonic()
        good, words = self.compile(self.command(self.source_of(key), key.startswith("debug "), library))
        if good:
            mark.write_text(stamp)
        return self.finished(key, good, time.monotonic() - began, words)

    def compile(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True)
        self.processes.add(process)
        try:
            said, _ = process.communicate(timeout=LIMIT_S)
            return process.returncode == 0, said.strip()[-2000:] or ("no time left" if self.stopped else "")
        except subprocess.TimeoutExpired:
            kill(process)
            return False, f"nvcc took more than {LIMIT_S} s"
        finally:
            self.processes.discard(process)

    def finished(self, key, good, seconds, words):
        self.done[key] = {"good": good, "seconds": round(seconds, 2), "says": words}
        self.note(key, self.done[key])
        return good

    def ready(self, keys, limit_s):
        """Whether all are built, waiting so long at most."""
        end = time.monotonic() + limit_s
        for key in keys:
            try:
                if not self.ask(key).result(timeout=max(0.01, end - time.monotonic())):
                    return False
            except (concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
                return False
        return True

    def why(self, keys):
        for key in keys:
            if key not in self.done:
                return f"{key} was not built in time"
            if not self.done[key]["good"]:
                return f"{key} was not built: {first_error(self.done[key]['says'])}"
        return ""

    def stop(self):
        self.stopped = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        for process in list(self.processes):
            kill(process)


def first_error(text):
    lines = [line for line in text.splitlines() if "error" in line.lower()] or text.splitlines() or ["it says nothing"]
    return lines[0]


def kill(process):
    """The process and its children, which share its session."""
    try:
        os.killpg(process.pid, 9)
    except (ProcessLookupError, PermissionError):
        pass
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:  # it waits for the device, which does not let it go
        pass
