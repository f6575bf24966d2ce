#!/usr/bin/env python3
"""Random products of many factors, summed: napkin plans them in the order that is fastest at large sizes, and what it
emits in C++ is run at small ones, against numpy's einsum of the diagram as written.

    tests/oracle/orders.py --count 100 --seed 7
"""
import argparse
import ctypes
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

AXES = "abcdefg"


class Network:
    """Factors over two or three axes each, and what is kept of them, in one statement or in several."""

    def __init__(self, rng):
        self.rng = rng
        used = AXES[:rng.randint(4, 6)]
        self.sizes = {axis: rng.choice([32, 512, 2048]) for axis in used}
        self.factors = [rng.sample(used, 2)]
        for _ in range(rng.randint(2, 3)):
            # Each factor shares an axis with the one before, as in a chain, and some have a third axis.
            axes = [rng.choice(self.factors[-1])]
            axes += rng.sample([axis for axis in used if axis not in axes], rng.choice([1, 1, 1, 2]))
            rng.shuffle(axes)
            self.factors.append(axes)
        self.factors = ["".join(axes) for axes in self.factors]
        every = sorted(set("".join(self.factors)))
        self.sizes = {axis: self.sizes[axis] for axis in every}
        self.kept = "".join(rng.sample(every, rng.randint(0, 2)))
        self.types = [rng.choice(["f16", "f16", "bf16", "f32"]) for _ in self.factors]
        self.nested = rng.random() < 0.6

    def read(self, name, axes):
        return "%s[%s]" % (name, ", ".join(axes))

    def summed(self, over, product):
        return "sum[%s](%s)" % (", ".join(over), product) if over else product

    def statements(self):
        """From left to right, each axis summed as soon as it can be; or all at once."""
        reads = [self.read("PQRST"[i], axes) for i, axes in enumerate(self.factors)]
        if not self.nested:
            over = [axis for axis in self.sizes if axis not in self.kept]
            return ["%s = %s" % (self.read("Y", self.kept), self.summed(over, " * ".join(reads)))]
        lines, so_far, axes = [], reads[0], set(self.factors[0])
        for i in range(1, len(reads)):
            axes |= set(self.factors[i])
            later = set("".join(self.factors[i + 1:])) | set(self.kept)
            over = sorted(axes - later)
            axes &= later
            last = i + 1 == len(reads)
            kept = self.kept if last else "".join(sorted(axes))
            name = "Y" if last else "T%d" % i
            lines.append("%s = %s" % (self.read(name, kept), self.summed(over, so_far + " * " + reads[i])))
            so_far = self.read(name, kept)
        return lines

    def text(self):
        lines = ["diagram network"]
        lines += ["axis %s = %d" % (axis, size) for axis, size in self.sizes.items()]
        lines += ["input %s: %s[%s]" % ("PQRST"[i], self.types[i], ", ".join(axes)) for i, axes in enumerate(self.factors)]
        return "\n".join(lines + self.statements() + ["output Y"]) + "\n"


def run(napkin, *arguments):
    done = subprocess.run([napkin, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def inputs(network, sizes, seed):
    """Whole numbers that every format holds, so that all orders give one result."""
    random_numbers = np.random.default_rng(seed)
    return [random_numbers.integers(-3, 4, [sizes[axis] for axis in axes]).astype(np.float64) for axes in network.factors]


def stored(values, kind):
    if kind == "f16":
        return values.astype(np.float16)
    single = values.astype(np.float32)
    return (single.view(np.uint32) >> 16).astype(np.uint16) if kind == "bf16" else single


def called(library, header, network, sizes, values):
    """Y, from the emitted function with the interface that its header declares; None for sizes that an axis in parts of
    one length does not have."""
    kernels = ctypes.CDLL(library)
    with open(header) as file:
        text = file.read()
    buffers = {"PQRST"[i]: np.ascontiguousarray(stored(v, network.types[i])) for i, v in enumerate(values)}
    buffers["Y"] = np.full([sizes[axis] for axis in network.kept], np.nan, np.float32)

    def call(function, kind):
        declared = re.search(r"^\w+ network_%s\((.*?)\);" % function, text, re.M | re.S)
        names = [part.split()[-1].lstrip("*") for part in declared.group(1).split(",")] if declared else []
        function = getattr(kernels, "network_" + function) if declared else lambda *_: 0
        function.restype = kind
        return function(*[ctypes.c_int(sizes[name]) if name in sizes else buffers[name].ctypes.data_as(ctypes.c_void_p)
                          for name in names])

    buffers["workspace"] = np.zeros(call("workspace_size", ctypes.c_size_t), np.uint8)
    return None if call("run", ctypes.c_int) else buffers["Y"]


def check(napkin, compiler, network, folder, seed):
    """What is wrong, or nothing; and whether the plan has another order than the file."""
    path = os.path.join(folder, "network.nap")
    with open(path, "w") as file:
        file.write(network.text())
    code, out, err = run(napkin, "analyze", path, "--target", "h100-sxm5", "--format", "json")
    if code:
        return "" if "nothing fits" in err else "analyze: " + err, False
    orders = json.loads(out)["orders"]
    emitted = os.path.join(folder, "out")
    code, out, err = run(napkin, "emit", "cpp", path, "--target", "h100-sxm5", "-o", emitted, "--force")
    if code:
        return "emit: " + err, bool(orders)
    library = os.path.join(folder, "network%d.so" % seed)
    done = subprocess.run([compiler, "-std=c++20", "-O1", "-fPIC", "-w", "-shared", os.path.join(emitted, "network.cpp"),
                           "-o", library], capture_output=True, text=True)
    if done.returncode:
        return "compile: " + done.stderr, bool(orders)
    for round_ in range(3):
        sizes = {axis: min(size, network.rng.randint(1, 13)) for axis, size in network.sizes.items()}
        values = inputs(network, sizes, 10 * seed + round_)
        meant = np.einsum(",".join(network.factors) + "->" + network.kept, *values)
        if np.abs(meant).max(initial=0) >= 2**24:
            continue
        got = called(library, os.path.join(emitted, "network.h"), network, sizes, values)
        if got is None:
            continue
        # Sums between may be beyond 2^24 and cancel: then a few roundoffs of the sum of magnitudes are right.
        bound = np.einsum(",".join(network.factors) + "->" + network.kept, *[np.abs(v) for v in values])
        if not (np.abs(got - meant) <= 1e-6 * bound).all():
            return "at %s: %s instead of %s" % (sizes, got, meant), bool(orders)
    return "", bool(orders)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--napkin", default="build/release/napkin")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--profiles", default="")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.profiles:
        os.environ["NAPKIN_PROFILES"] = options.profiles
    reordered = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.count):
            network = Network(random.Random(1000 * options.seed + i))
            wrong, other = check(os.path.abspath(options.napkin), options.compiler, network, folder, i)
            reordered += other
            if wrong:
                print("%s\n%s" % (network.text(), wrong))
                return 1
    print("%d networks as numpy has them, %d of them in another order than the file's" % (options.count, reordered))
    return 0 if reordered * 5 >= options.count or options.count < 10 else 1


if __name__ == "__main__":
    sys.exit(main())
