#!/usr/bin/env python3
"""Decays far along an axis: kernels in C++ of averages and of retention at tens of thousands of positions, whose weights fade by
the same factor with every position, against the recurrence in double. An exponent that is reckoned from the first
position has no digits left there.

    tests/oracle/far.py --napkin build/release/napkin --compiler g++
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from partitions import MACHINES  # noqa: E402

AVERAGE = """diagram average
axis r = 4; axis t = {t}; axis x = {t}
input A: f32[r, x]; input decay: f32[r]
Y: f32[r, t] = sum[x](where({edge}, A[r, x] * exp(log(decay[r]) * {distance}), 0))
output Y
"""
RETENTION = """diagram retention
axis h = 4; axis t = {t}; axis x = {t}; axis d = 4; axis e = 2
input Q: f32[h, t, d]; input K: f32[h, x, d]; input V: f32[h, x, e]; input decay: f32[h]
Y: f32[h, t, e] = sum[x](where({edge}, exp(log(decay[h]) * {distance}) * sum[d](Q[h, t, d] * K[h, x, d]), 0) * V[h, x, e])
output Y
"""
MACHINE = MACHINES["two-level"][0]  # of few levels, so that the search is short
DECAYS = np.array([0.3, 0.97, 0.9996, 1.0], np.float32)  # of the four rows or heads
TO_BOTH = {"x <= t": "(t - x)", "x < t": "(t - x - 1)", "x >= t": "(x - t)"}
WITHIN = 8e-6  # of the sum of what is added up, each without its sign: 128 roundings of f32, as in the longest chunk below


def recurrence(added, edge, decays):
    """What the terms along the first axis come to at every position; each fades by the decays."""
    state, all_states = np.zeros(added.shape[1:]), np.zeros(added.shape)
    steps = range(len(added)) if edge != "x >= t" else range(len(added) - 1, -1, -1)
    for t in steps:
        if edge == "x < t":
            all_states[t] = state
        state = state * decays + added[t]
        if edge != "x < t":
            all_states[t] = state
    return all_states


def meant(name, edge, inputs):
    """The output, and the sum of what it adds up without signs."""
    decays = np.exp(np.log(DECAYS).astype(np.float64))
    wide = [one.astype(np.float64) for one in inputs]
    results = []
    for a in (wide, [np.abs(one) for one in wide]):
        if name == "average":
            results.append(recurrence(a[0].T, edge, decays).T)
        else:
            states = recurrence(np.einsum("hxd,hxe->xhde", a[1], a[2]), edge, decays[:, None, None])
            results.append(np.einsum("htd,thde->hte", a[0], states))
    return results


def built(options, text, name, length, folder):
    source = os.path.join(folder, name + ".nap")
    with open(source, "w") as out:
        out.write(text)
    subprocess.run([options.napkin, "emit", "cpp", source, *MACHINE, "--chunks", str(length), "-q", "-o", folder], check=True)
    library = os.path.join(folder, name + ".so")
    subprocess.run([options.compiler, "-std=c++20", "-O1", "-w", "-fPIC", "-fopenmp-simd", "-shared", os.path.join(folder, name + ".cpp"),
                    "-o", library], check=True)
    return ctypes.CDLL(library)


def ran(library, name, sizes, inputs, shape):
    space = getattr(library, name + "_workspace_size")
    space.restype = ctypes.c_size_t
    workspace, output = np.zeros(space(*sizes) + 64, np.uint8), np.full(shape, np.nan, np.float32)
    pointer = lambda array: ctypes.c_void_p(array.ctypes.data)  # noqa: E731
    code = getattr(library, name + "_run")(*sizes, *map(pointer, inputs), pointer(output), pointer(workspace))
    assert code == 0, "the kernel refuses its sizes"
    return output


def wrong(options, name, edge, t, length):
    """How far the output is off, in parts of what it may be."""
    rng = np.random.default_rng(t + length)
    number = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    average = name == "average"
    arrays = [number(4, t)] if average else [number(4, t, 4), number(4, t, 4), number(4, t, 2)]
    text = (AVERAGE if average else RETENTION).format(t=t, edge=edge, distance=TO_BOTH[edge])
    with tempfile.TemporaryDirectory() as folder:
        library = built(options, text, name, length, folder)
        output = ran(library, name, [4, t, t] if average else [4, t, t, 4, 2], arrays + [DECAYS], (4, t) if average else (4, t, 2))
    right, size = meant(name, edge, arrays)
    return float(np.nanmax(np.abs(output - right) / (WITHIN * np.maximum(size, 1e-30)))) if not np.isnan(output).any() else np.inf


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--napkin", required=True)
    p.add_argument("--compiler", default="c++")
    options = p.parse_args()
    failed = 0
    for name, edge, t, length in (("average", "x <= t", 65536, 128), ("average", "x >= t", 30001, 100), ("retention", "x < t", 9001, 64)):
        far = wrong(options, name, edge, t, length)
        print("%s, %s, %d positions, chunks of %d: %.2f of what rounding explains" % (name, edge, t, length, far), flush=True)
        failed += not far <= 1
    print("%d too far off" % failed)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
