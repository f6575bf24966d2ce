#!/usr/bin/env python3
"""Random diagrams as kernels for devices, emulated, against their meaning as this folder reads it: products of matrices in
every layout and format with what follows them, rows that are normalised, and what the random diagrams of the oracle hold.

    tests/oracle/device.py --napkin build/release/napkin --emulation build/release/tests/emulation --count 100 --seed 7

Each runs on one of several machines, as the search plans it or in a random partition, at sizes no greater than the planned ones.
"""
import collections
import random
import subprocess
import sys
import tempfile

import numpy as np

import data
import diagrams
import emulated
import formats
from language import parse, print_diagram
from meaning import sizes_of

MACHINES = ["h100-sxm5"] * 4 + ["a100-sxm4-80", "rtx4090", "v100-sxm2"]
MOST = 1 << 22  # products of a statement at sizes that are run
KINDS = ["ordinary", "ordinary", "alternating", "constant", "outlier last"]


# What is computed

def factors(rng):
    """The formats of two arrays that are multiplied: one that both have, or two of which a kernel widens one."""
    kind = rng.choice(["f16"] * 6 + ["bf16"] * 3 + ["f8e4m3", "f8e5m2", "i8", "f32", "tf32", "f4e2m1", "i4"])
    if rng.random() < 0.75:
        return kind, kind
    return tuple(rng.sample(["f16", rng.choice(["f32", "f8e4m3", "f8e5m2", "i8", "i4", "f4e2m1", "bf16"])], 2))


def product(rng, inputs, axes):
    """A sum along k of products of two arrays in random layouts, which it declares, and of what scales blocks of them; the
    format of the first; and the axes of a batch."""
    kinds = factors(rng)
    in_batches = rng.choice([False, False, False, True])
    value = []
    for kind, name, own in zip(kinds, "AB", "mn"):
        along = rng.sample([own, "k"], 2)
        if in_batches and rng.random() < 0.8:
            along.insert(rng.choice([0, 0, 1]), "h")
        inputs[name] = (kind, along)
        value.append("%s[%s]" % (name, ", ".join(along)))
    batch = ["h"] if any("h" in along for _, along in inputs.values()) else []
    if rng.random() < 0.15 and axes["k"] >= 64:
        block = rng.choice([16, 32, 64])
        axes["kb"] = "(k + %d) / %d" % (block - 1, block)
        for name, own in rng.sample([("s", "m"), ("t", "n")], rng.choice([1, 2])):
            along = rng.sample([own, "kb"], 2)
            inputs[name] = (rng.choice(["f8e8m0", "f32", "f16"]), along)
            value.append("%s[%s]" % (name, ", ".join(along).replace("kb", "k / %d" % block)))
    return "sum[k](%s)" % " * ".join(value), kinds[0], batch


def after(rng, value, inputs):
    """What is done to each result: a bias, a scale, a function, another array, a mask."""
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        what = rng.randrange(6)
        if what == 0:
            inputs["b"] = (rng.choice(["f32", "f16"]), [rng.choice("mn")])
            value = "%s + b[%s]" % (value, inputs["b"][1][0])
        elif what == 1:
            value = "(%s) / %s" % (value, rng.choice(["2", "sqrt(size(k))", "3"]))
        elif what == 2:
            value = "%s(%s)" % (rng.choice(["relu", "tanh", "sigmoid", "silu", "gelu"]), value)
        elif what == 3:
            inputs["R"] = (rng.choice(["f32", "f16"]), rng.sample("mn", 2))
            value = "(%s) %s R[%s]" % (value, rng.choice("+*"), ", ".join(inputs["R"][1]))
        elif what == 4:
            value = "where(m %s n, %s, 0)" % (rng.choice(["<=", ">", ">="]), value)
        else:
            value = "(%s) * %s" % (value, rng.choice(["0.5", "size(k) / 64"]))
    return value


def products(rng):
    """A product with what follows, alone, or before another one, or with a softmax between the two."""
    axes = {"m": rng.choice([64, 512, 1024, 4096]), "n": rng.choice([96, 256, 1024, 4096]),
            "k": rng.choice([8, 32, 64, 128, 256, 1024]), "e": rng.choice([32, 64, 128]), "h": rng.choice([2, 3, 16])}
    inputs = {}
    value, kind, batch = product(rng, inputs, axes)
    value, lines = after(rng, value, inputs), []
    both = rng.choice([["m", "n"], ["m", "n"], ["n", "m"]])
    result = ", ".join(batch + both if rng.random() < 0.8 else both + batch)
    shape = rng.random()
    if shape < 0.5:
        lines.append("C: %s[%s] = %s" % (rng.choice(["f32", "f16", "bf16"]), result, value))
        outputs = ["C"]
    else:
        narrow = kind if kind in ("f16", "bf16") else "f16"
        inputs["V"] = (narrow, rng.sample(["n", "e"], 2))
        softmax = shape < 0.8
        lines.append("S: %s[%s] = %s" % ("f32" if softmax else narrow, result, value))
        read = "%s[%s]" % ("P" if softmax else "S", result)
        if softmax:
            lines.append("P: %s[%s] = softmax[n](S[%s])" % (narrow, result, result))
        second = ", ".join(batch + rng.sample(["m", "e"], 2))
        lines.append("O: %s[%s] = sum[n](%s * V[%s])" % (rng.choice(["f32", "f16"]), second, read, ", ".join(inputs["V"][1])))
        outputs = ["O"]
    used = [axis for axis in axes if any(axis in given for _, given in inputs.values())]
    order = sorted(rng.sample(used, len(used)), key=lambda axis: axis == "kb")  # its size is made of another
    return parse("diagram d\n" + "".join("axis %s = %s\n" % (axis, axes[axis]) for axis in order) +
                 "".join("input %s: %s[%s]\n" % (name, kind, ", ".join(given)) for name, (kind, given) in inputs.items()) +
                 "\n".join(lines) + "\noutput " + ", ".join(outputs) + "\n")


def rows(rng):
    """Rows that are reduced and normalised, with what is done to each number before and after."""
    before = rng.choice(["A[r, x]", "abs(A[r, x])", "A[r, x] * G[x]", "A[r, x] + b[r]", "where(x <= r, A[r, x], 0)", "A[r, x] * 0.5"])
    what = rng.choice(["softmax[x](%s)", "layernorm[x](%s)", "rmsnorm[x](%s)", "(%s) / (1 + max[x](abs(%s)))", "logsoftmax[x](%s)"])
    value = what.replace("%s", before)
    kind = rng.choice(["f16", "bf16", "f32"])
    whole = rng.random() < 0.3
    text = "diagram d\naxis r = %d; axis x = %d\ninput A: %s[r, x]\n" % (rng.choice([64, 256]), rng.choice([96, 512, 2048]), kind)
    text += "input G: f16[x]\n" if "G[" in value else ""
    text += "input b: f32[r]\n" if "b[r]" in value else ""
    if whole:
        return parse(text + "Y[r] = %s[x](%s)\noutput Y\n" % (rng.choice(["sum", "max", "mean", "logsumexp", "var"]), before))
    return parse(text + "Y: %s[r, x] = %s\noutput Y\n" % (rng.choice(["f16", "f32"]), value))


def drawn(rng):
    chance = rng.random()
    if chance < 0.7:
        return products(rng)
    if chance < 0.85:
        return rows(rng)
    found = diagrams.make(rng)
    found.name = "d"
    return found


# How it runs

def partition(rng, diagram):
    """A random one. Many are refused, for kernels of devices hold pieces of their instructions; some suit warpgroups."""
    axes = list(diagram.axes)
    if "m" in axes and rng.random() < 0.5:
        pieces = rng.choice([64, 128]), rng.choice([32, 64, 96, 128]), rng.choice([8, 16, 32, 64])
        return "group m %d, n %d, stream k %d at smem; group m 16 at reg" % pieces
    groups = ["%s %d" % (axis, rng.choice([16, 32, 64, 64, 128])) for axis in rng.sample(axes, min(len(axes), rng.choice([1, 2, 2])))]
    stream = ", stream %s %d" % (rng.choice(axes), rng.choice([16, 32, 64])) if rng.random() < 0.8 else ""
    return "group %s%s at smem%s" % (", ".join(groups), stream, "; group %s 16 at reg" % rng.choice(axes) if rng.random() < 0.7 else "")


def drawn_sizes(rng, diagram, planned):
    """The planned sizes, or ones no greater: multiples of 16 bytes or not, ragged against pieces."""
    base = [axis for axis, size in diagram.axes.items() if size[0] == "number"]
    sizes = {axis: planned[axis] for axis in base}
    by = rng.choice([1, 16, 16, 16])
    if rng.random() < 0.7:
        sizes = {axis: max(by, rng.randint(1, most) // by * by) if most >= by else most for axis, most in sizes.items()}
    while np.prod([float(size) for size in sizes.values()]) > MOST:
        longest = max(sizes, key=sizes.get)
        sizes[longest] = max(1, sizes[longest] // 2 // by * by)
    for kind, axes in diagram.inputs.values():
        if kind in formats.PACKED and axes[-1] in sizes:
            sizes[axes[-1]] = max(2, sizes[axes[-1]] // 2 * 2)  # two numbers to a byte
    return sizes_of(diagram, sizes)


def attack(options, rng, tally):
    """One diagram on one machine: what is wrong, as a text, or nothing."""
    diagram, machine = drawn(rng), rng.choice(MACHINES)
    by_hand = partition(rng, diagram) if rng.random() < 0.4 else None
    said = "%s, %s\n%s" % (machine, by_hand or "as planned", print_diagram(diagram))
    with tempfile.TemporaryDirectory() as folder:
        try:
            device = emulated.Emulated(options, folder, diagram)
            if not device.build(machine, by_hand):
                tally["refused"] += 1
                return ""
            planned = sizes_of(diagram, {})
            for _ in range(3):
                sizes = drawn_sizes(rng, diagram, planned)
                kind = rng.choice(KINDS)
                inputs = data.all_inputs(np.random.default_rng([rng.randrange(1 << 30)]), kind, diagram, sizes)
                result = device.call(sizes, inputs)
                if result is None and sizes == planned:
                    return "%s\nthe launcher refuses the planned sizes" % said
                if result is None:
                    tally["sizes refused"] += 1
                    continue
                tally.update(set(result[0].split(",")))
                wrong = emulated.differences(diagram, sizes, inputs, result[1])
                if wrong:
                    return "%s\nat %s, %s data, by %s: %s" % (said, sizes, kind, result[0], "; ".join(wrong))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return "%s\n%s" % (said, error)
    return ""


def main():
    options = emulated.options_of(__doc__)
    tally, wrong = collections.Counter(), 0
    for at in range(options.count):
        words = attack(options, random.Random(options.seed * 100003 + at), tally)
        if words:
            wrong += 1
            print("wrong, number %d: %s" % (at, words), flush=True)
    print("%d diagrams, %s, %d wrong" % (options.count, ", ".join("%d %s" % (n, what) for what, n in tally.items()), wrong))
    sys.exit(1 if wrong or not tally["warpgroups"] or not tally["warps"] else 0)


if __name__ == "__main__":
    main()
