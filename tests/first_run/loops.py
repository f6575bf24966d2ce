#!/usr/bin/env python3
"""The small benchmarks compile for both architectures, and nvcc leaves in their loops what they measure.

loops.py NVCC SOURCES FOLDER: reads the PTX of every kernel, finds its loops (a branch back to a label before it), and
looks for the instruction there.
"""
import pathlib
import re
import subprocess
import sys

NVCC, SOURCES, FOLDER = sys.argv[1:4]
# Of each kernel, by a part of its mangled name: what must stand in a loop, and where it is compiled at all.
WANTED = {
    "micro_core": {"shared_kernelILi0E": "ld.shared.v4", "shared_kernelILi1E": "ldmatrix",
                   "shared_kernelILi2E": "st.shared.v4",
                   "lanes_kernelILi0E": "ex2.approx.ftz.f32", "lanes_kernelILi1E": "ex2.approx.f16x2",
                   "lanes_kernelILi2E": "fma.rn.f32", "chase_kernel": "ld.global.cg"},
    "micro_memory": {"read_kernel": "ld.global.cg", "copy_kernel": "st.global.cs"},
    "micro_tensor": {f"warp_kernelILNS_6FormatE{number}E": "mma.sync" for number in (0, 1, 2, 5)}}
HOPPER = {
    "micro_core": {},
    "micro_memory": {"bulk_kernelILi2ELb1E": "multicast::cluster", "bulk_kernelILi2ELb0E": "cp.async.bulk",
                     "sibling_kernelILi2E": "ld.shared::cluster.v4"},
    "micro_tensor": {**{f"team_kernelILNS_6FormatE{number}E": "wgmma.mma_async" for number in range(6)},
                     **{f"warp_kernelILNS_6FormatE{number}E": "mma.sync" for number in (3, 4)}}}


def kernels(ptx):
    """The lines of every kernel by its name."""
    for part in re.split(r"(?m)^\s*\.(?:visible|weak) \.entry |^\s*\.entry ", ptx)[1:]:
        name = re.match(r"([\w$]+)", part)[1]
        yield name, part.splitlines()


def in_loops(lines):
    """The lines that stand between a label and a branch back to it."""
    labels, found = {}, set()
    for number, line in enumerate(lines):
        label = re.match(r"\s*(\$\w+):", line)
        if label:
            labels[label[1]] = number
        branch = re.search(r"\bbra(?:\.uni)?\s+(\$\w+);", line)
        if branch and branch[1] in labels:
            found |= set(range(labels[branch[1]], number))
    return [lines[number] for number in sorted(found)]


def check(name, architecture, wanted):
    source = pathlib.Path(SOURCES, f"bench/gpu/cuda/{name}.cu")
    target = pathlib.Path(FOLDER, f"{name}.{architecture}.ptx")
    command = [NVCC, "-std=c++17", "-O3", f"-arch={architecture}", "-ptx", str(source), "-o", str(target)]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert made.returncode == 0 and "warning" not in made.stdout, made.stdout
    found = dict(kernels(target.read_text()))
    for part, instruction in wanted.items():
        names = [one for one in found if part in one]
        assert names, f"{name}, {architecture}: no kernel is called {part}: {list(found)}"
        loops = in_loops(found[names[0]])
        words = f"{name}, {architecture}: no {instruction} in a loop of {names[0]}"
        assert any(instruction in line for line in loops), words


def main():
    pathlib.Path(FOLDER).mkdir(parents=True, exist_ok=True)
    for name, wanted in WANTED.items():
        check(name, "compute_80", wanted)
        check(name, "compute_90a", {**wanted, **HOPPER[name]})
    print("good")


main()
