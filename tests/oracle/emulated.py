"""CUDA that napkin prints, emulated on this host and called from Python."""
import argparse
import glob
import os
import re
import subprocess

import numpy as np

import check
import formats
import kernels
from language import print_diagram
from meaning import evaluate
from ranged import Ranged

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=c++17", "-Og", "-Wno-unknown-pragmas", "-Wno-psabi", "-fno-strict-aliasing", "-fPIC"]
FACTOR = 64  # of the bound of plain evaluation: devices have approximations, and long sums drift one way
DRIVER = """#include "d.h"
#include <cstdio>
#include <string>
static void* load(const std::string& path, size_t least) {
  FILE* in = std::fopen(path.c_str(), "rb");
  size_t bytes = least;
  if (in) std::fseek(in, 0, SEEK_END), bytes = (size_t)std::ftell(in), std::rewind(in);
  void* made = nullptr;
  if (cudaMalloc(&made, bytes)) std::abort();
  if (in && std::fread(made, 1, bytes, in) != bytes) std::abort();
  return made;
}
static void store(const std::string& path, const void* array, size_t bytes) {
  FILE* out = std::fopen(path.c_str(), "wb");
  std::fwrite(array, 1, bytes, out);
  std::fclose(out);
}
int main(int, char** words) {
  size_t at = 1;
%s}
"""


class Emulated:
    """The kernels of one diagram for one machine as a program of this host, in a folder."""

    def __init__(self, options, folder, diagram):
        self.options, self.folder, self.diagram = options, folder, diagram

    def run(self, command):
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300)

    def build(self, machine, partition=None):
        """Whether there is a kernel: a partition may be refused. An error where that of a plan is, or by the compiler."""
        with open(os.path.join(self.folder, "d.nap"), "w") as file:
            file.write(print_diagram(self.diagram))
        words = ["--partition", partition] if partition else []
        made = self.run([self.options.napkin, "emit", "cuda", "d.nap", "--target", machine, "-o", ".", "--force", "-q", *words])
        if made.returncode == 1 and partition:
            return False
        if made.returncode:
            raise RuntimeError("emit ends with %d: %s" % (made.returncode, made.stderr[-300:]))
        with open(os.path.join(self.folder, "d.h")) as header:
            declared = re.search(r"^int d_launch\((.*?)\);", header.read(), re.M | re.S).group(1)
        parts = [part.split() for part in declared.split(",")]
        names = [part[-1].lstrip("*").rstrip("_") for part in parts]  # a name that the language has taken ends in `_`
        self.sizes = [name for name, part in zip(names, parts) if part[0] == "int"]
        self.arrays = [name for name, part in zip(names, parts) if part[0] != "int"][:-2]
        with open(os.path.join(self.folder, "driver.cpp"), "w") as file:
            file.write(DRIVER % self.body())
        for source in ("d.cu", "driver.cpp"):
            self.compile(["-I", os.path.join(ROOT, "tests/cuda/emulation"), "-include",
                          os.path.join(self.options.emulation, "plain.hpp"), "-x", "c++", "-c", source, "-o", source + ".o"])
        self.compile(["d.cu.o", "driver.cpp.o", *glob.glob(os.path.join(self.options.emulation, "plain_*.o")), "-o", "driver"])
        return True

    def compile(self, arguments):
        done = self.run([self.options.compiler, *FLAGS, *arguments])
        if done.returncode:
            raise RuntimeError("the compiler says " + kernels.first_complaint(done.stderr))

    def body(self):
        """Sizes, and the bytes of every array, from the command line; arrays that have a file are read from it."""
        sizes = ["s_%s" % name for name in self.sizes]
        text = "".join("  const int %s = std::atoi(words[at++]);\n" % size for size in sizes)
        for name in self.arrays:
            text += "  const size_t n_%s = (size_t)std::atoll(words[at++]);\n  void* a_%s = load(\"%s.in\", n_%s);\n" % (name, name, name, name)
        text += "  void* workspace = load(\"\", d_workspace_size(%s) + 16);\n" % ", ".join(sizes)
        text += "  const int error = d_launch(%s);\n" % ", ".join(sizes + ["a_" + name for name in self.arrays] + ["workspace", "nullptr"])
        for name in self.diagram.outputs:
            text += "  store(\"%s.out\", a_%s, n_%s);\n" % (name, name, name)
        return text + "  std::printf(\"%s\\n\", d_last_path());\n  return error ? 9 : 0;\n"

    def call(self, sizes, inputs):
        """The path that ran and the outputs; None where the launcher refuses the sizes."""
        words = [str(sizes[name]) for name in self.sizes]
        for name in self.arrays:
            kind, axes = self.diagram.inputs.get(name) or (self.diagram.statement(name).type, self.diagram.statement(name).axes)
            values = int(np.prod([sizes[axis] for axis in axes], dtype=int))
            words.append(str(values * formats.stored_type(kind).itemsize // (2 if kind in formats.PACKED else 1)))
            if name in inputs:
                formats.encode(inputs[name], kind).tofile(os.path.join(self.folder, name + ".in"))
        ran = self.run(["./driver", *words])
        if ran.returncode == 9:
            return None
        if ran.returncode:
            raise RuntimeError("the program ends with %d: %s" % (ran.returncode, (ran.stderr + ran.stdout)[-300:]))
        return ran.stdout.strip(), {name: self.read(name, sizes) for name in self.diagram.outputs}

    def read(self, name, sizes):
        statement = self.diagram.statement(name)
        stored = np.fromfile(os.path.join(self.folder, name + ".out"), formats.stored_type(statement.type))
        return formats.decode(stored, statement.type).reshape([sizes[axis] for axis in statement.axes])


def differences(diagram, sizes, inputs, outputs):
    """What is wrong with each output. Matrix units add up products of 8 or 4 bits in few digits, until these are promoted."""
    arrays = evaluate(diagram, sizes, inputs)
    few_digits = any(kind in ("f8e4m3", "f8e5m2", "f4e2m1") for kind, _ in diagram.inputs.values())
    found = []
    for name in diagram.outputs:
        right = arrays[name][1]
        allowed = FACTOR * right.radius + (np.max(np.abs(right.value), initial=0) / 1024 if few_digits else 0)
        found.append(check.difference(name, outputs[name], Ranged(right.value, allowed / check.FACTOR)))
    return [words for words in found if words]


def options_of(description):
    """What such a program is told on its command line."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--napkin", default=os.path.join(ROOT, "build/release/napkin"))
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--emulation", required=True, help="the folder of the emulation's objects")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.napkin, options.emulation = os.path.realpath(options.napkin), os.path.realpath(options.emulation)
    return options
