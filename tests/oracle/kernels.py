"""Emitted C++: printed by napkin, compiled in one unit for many kernels, and called through its interface."""
import os
import pickle
import re
import subprocess
import sys

import numpy as np

from formats import decode, encode, stored_type

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = "#include <algorithm>\n#include <bit>\n#include <cmath>\n#include <cstddef>\n#include <cstdint>\n#include <cstring>\n#include <new>\n"
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]


class Kernel:
    """One emitted kernel: its name, its file, and what its interface takes."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        with open(os.path.join(folder, name + ".h")) as header:
            text = header.read()
        declared = re.search(r"^int %s_run\((.*?)\);" % name, text, re.M | re.S).group(1)
        parts = [part.split() for part in declared.split(",")]
        self.sizes = [part[-1] for part in parts if part[0] == "int"]
        self.arrays = [part[-1].lstrip("*") for part in parts if part[0] != "int"]
        self.longest = {axis: int(most) for axis, most in re.findall(r"^ \*   (\w+) +size of axis .*?, at most (\d+)", text, re.M)}

    def source(self):
        return os.path.join(self.folder, self.name + ".cpp")


class Tools:
    """Where the programs are, and how to run them."""

    def __init__(self, napkin, compiler, profiles, folder):
        self.napkin, self.compiler, self.folder = napkin, compiler, folder
        self.environment = dict(os.environ, NAPKIN_PROFILES=profiles)
        self.sanitizer = ""

    def run(self, *arguments, text=None, timeout=120):
        """Exit code, standard output and standard error of napkin; a time out is the code 124."""
        try:
            done = subprocess.run([self.napkin, *arguments], input=text, capture_output=True, text=True,
                                  timeout=timeout, env=self.environment)
        except subprocess.TimeoutExpired:
            return 124, "", "took longer than %d s" % timeout
        return done.returncode, done.stdout, done.stderr

    def prepare(self):
        """The standard headers, compiled once."""
        os.makedirs(self.folder, exist_ok=True)
        for kind, flags in (("plain", []), ("sanitized", SANITIZE)):
            where = os.path.join(self.folder, kind)
            os.makedirs(where, exist_ok=True)
            prefix = os.path.join(where, "prefix.hpp")
            with open(prefix, "w") as header:
                header.write(PREFIX)
            subprocess.run([self.compiler, *self.flags(flags), "-x", "c++-header", prefix, "-o", prefix + ".gch"], check=True)
        found = subprocess.run([self.compiler, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
        self.sanitizer = found if os.path.isabs(found) else ""  # other compilers than g++ have none to load first

    def flags(self, more):
        return ["-std=c++20", "-O1", "-fPIC", "-w", "-fopenmp-simd", *more]

    def compile(self, kernels, library, sanitized=False):
        """All kernels as one library; returns what the compiler has against it."""
        unit = library + ".cpp"
        with open(unit, "w") as out:
            numbers = os.path.join(kernels[0].folder, "napkin_numbers.hpp")
            out.write('#include "prefix.hpp"\n#include "%s"\n' % numbers)
            for at, kernel in enumerate(kernels):
                out.write('namespace k%d {\n#include "%s"\n}\n' % (at, kernel.source()))
        extra = SANITIZE if sanitized else []
        include = os.path.join(self.folder, "sanitized" if sanitized else "plain")
        done = subprocess.run([self.compiler, *self.flags(extra), "-shared", "-I", include, unit, "-o", library],
                              capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    def call_all(self, jobs, base, sanitized=False):
        """Results of all jobs; one that ends the process gets its complaint, and the others go on in another process."""
        results = []
        while len(results) < len(jobs):
            part, complaint = self.call_some(jobs[len(results):], base, sanitized)
            results += part
            if len(results) < len(jobs):
                results.append((None, [], complaint))
        return results

    def call_some(self, jobs, base, sanitized):
        asked, answered = base + ".jobs", base + ".results"
        with open(asked, "wb") as out:
            pickle.dump(jobs, out)
        open(answered, "wb").close()
        environment, arguments = dict(os.environ), [asked, answered]
        if sanitized:
            environment.update(LD_PRELOAD=self.sanitizer, ASAN_OPTIONS="detect_leaks=0")
            arguments.append("--malloc")
        try:
            done = subprocess.run([sys.executable, os.path.join(HERE, "runner.py"), *arguments], env=environment,
                                  capture_output=True, text=True, errors="replace", timeout=60 + len(jobs) // 10)
            complaint = "the process ended with %d: %s" % (done.returncode, first_complaint(done.stderr))
        except subprocess.TimeoutExpired:
            complaint = "it did not end"
        return read_results(answered), complaint


def first_complaint(text):
    """The line of a sanitizer that says what was wrong, or the last one."""
    lines = [line for line in text.splitlines() if line.strip()]
    said = [line for line in lines if "ERROR: AddressSanitizer" in line or "runtime error" in line]
    return (said or lines[-1:] or [""])[0]


def read_results(path):
    results = []
    with open(path, "rb") as stream:
        while True:
            try:
                results.append(pickle.load(stream))
            except (EOFError, pickle.UnpicklingError):
                return results


def sizes_to_pass(kernel, sizes):
    """What the interface takes for these sizes: those of the diagram's own axes."""
    return [sizes[name] for name in kernel.sizes]


def arguments_of(kernel, diagram, sizes, inputs):
    """What the runner passes for the arrays of the interface."""
    found = []
    for name in kernel.arrays:
        if name in diagram.inputs:
            found.append(("in", encode(inputs[name], diagram.inputs[name][0])))
        elif name == "workspace":
            found.append(("none",))
        else:
            statement = diagram.statement(name)
            count = int(np.prod([sizes[axis] for axis in statement.axes], dtype=int))
            found.append(("out", stored_type(statement.type), count))
    return found


def outputs_of(kernel, diagram, sizes, outputs):
    """What a kernel gave, by name, as values."""
    names = [name for name in kernel.arrays if name not in diagram.inputs and name != "workspace"]
    return {name: decode(data, diagram.statement(name).type).reshape([sizes[a] for a in diagram.statement(name).axes])
            for name, data in zip(names, outputs)}
