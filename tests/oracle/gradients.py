#!/usr/bin/env python3
"""Gradients of `napkin grad` against central differences: of every example, of random diagrams, and of random reads. Those
of reads are taken at other sizes too, unless they say that they hold for those of the file alone.

    tests/oracle/gradients.py --count 200 --seed 7

A diagram is taken at small random sizes, all numbers f64 and without casts, and so is the diagram that `napkin grad`
prints for it. Both are evaluated by meaning.py, which shares nothing with napkin. Along random directions U, the sum of
dX * U must be what the sum of dY * Y changes by: to 1e-6 of the magnitudes that it adds up.
"""
import argparse
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import numpy as np

import diagrams
import meaning
import reads
from formats import WIDE
from language import children, parse, print_diagram, rebuilt
from ranged import Condition, exact

STEP = 1e-5
NO_GRADIENT = ("E0541", "E0542")


def without_casts(node):
    if node[0] == "cast":
        return without_casts(node[2])
    return rebuilt(node, [without_casts(child) for child in children(node)])


def in_f64(diagram):
    """The same with numbers that are not rounded."""
    kind = lambda one: one if one in ("bool", "i32") else "f64"
    diagram.inputs = {name: (kind(type_), axes) for name, (type_, axes) in diagram.inputs.items()}
    for statement in diagram.statements:
        statement.type, statement.value = kind(statement.type), without_casts(statement.value)
    return diagram


def small(text, rng):
    """The text of an example at sizes that can be evaluated."""
    text = re.sub(r"(?m)^partition [^{]*\{[^}]*\}", "", text)
    text = re.sub(r"density [0-9.]+", "", text)
    text = re.sub(r"/ (64|128|256|512|1024)\b", "/ 2", text)
    text = re.sub(r"\+ (63|127)\b", "+ 1", text)
    sizes = re.compile(r"(?m)^((?:.*;\s*)?axis\s+\w+\s*=\s*)(\d+)(\s*(?:;|#|$))")
    divided = set(re.findall(r"(\w+)(?: \+ 1\))? / 2\b", text))

    def size(found):
        name = re.findall(r"axis\s+(\w+)", found.group(1))[-1]
        least, most = (2, 3) if name in divided else (1, 5)
        return "%s%d%s" % (found.group(1), rng.randint(least, most) * (2 if name in divided else 1), found.group(3))

    packed = re.compile(r"\b(?:f4e2m1|i4|f8e8m0)\b")  # rows of an even number of values; all are f64 here
    return packed.sub("f32", sizes.sub(size, text))


def draw(diagram, sizes, numbers):
    inputs = {}
    for name, (kind, axes) in diagram.inputs.items():
        shape = [sizes[axis] for axis in axes]
        if kind == "bool":
            inputs[name] = numbers.random(shape) < 0.7
        elif kind == "i32":
            inputs[name] = numbers.integers(0, 3, shape).astype(WIDE)
        else:
            inputs[name] = numbers.normal(size=shape).astype(WIDE)
    return inputs


class Unrounded:
    """Stores numbers as they are, without how far a plain evaluation may be from them."""

    @staticmethod
    def cast(numbers, kind):
        return exact(numbers.value)


def values(diagram, sizes, inputs):
    arrays = {}
    for name, (kind, axes) in diagram.inputs.items():
        sure = Condition(inputs[name].astype(bool), np.zeros(inputs[name].shape, bool)) if kind == "bool" else exact(inputs[name])
        arrays[name] = (axes, sure)
    for statement in diagram.statements:
        value = meaning.Evaluator(sizes, arrays, "f64", diagram.defs).evaluate(statement.value)
        arrays[statement.name] = (statement.axes, meaning.stored(value, statement.axes, sizes, "f64", Unrounded))
    return {name: data.value for name, (_, data) in arrays.items()}


class Mismatch(Exception):
    pass


def compare(forward, backward, numbers, directions):
    """How many directions were compared; raises where one differs."""
    sizes, own_sizes = meaning.sizes_of(forward, {}), meaning.sizes_of(backward, {})
    inputs = draw(forward, sizes, numbers)
    seeds = {"d" + name: name for name in forward.outputs}
    arrays = values(forward, sizes, inputs)
    if not all(np.all(np.isfinite(np.where(array.dtype == bool, 0, array))) for array in arrays.values()):
        return 0
    cotangents = {seed: numbers.normal(size=arrays[name].shape) + WIDE(0) for seed, name in seeds.items()}
    gradients = values(backward, own_sizes, {**inputs, **cotangents})
    compared = 0
    for output in backward.outputs:
        name = output[1:]
        for _ in range(directions):
            direction = numbers.normal(size=inputs[name].shape) + WIDE(0)
            parts = []
            for step in (STEP, -STEP, STEP / 2, -STEP / 2):
                moved = values(forward, sizes, {**inputs, name: inputs[name] + step * direction})
                parts.append(sum((cotangents[seed] * moved[of]).sum() for seed, of in seeds.items() if seed in backward.inputs))
            # Two steps, so that what is wrong with each by the square of it is gone.
            expected = (4 * (parts[2] - parts[3]) / STEP - (parts[0] - parts[1]) / (2 * STEP)) / 3
            found = (gradients[output] * direction).sum()
            magnitude = np.abs(gradients[output] * direction).sum() + abs(expected)
            if not np.isfinite(expected) or not np.isfinite(parts[0]) or magnitude > 1e6:
                continue
            compared += 1
            if not abs(found - expected) <= 1e-6 * max(magnitude, 1e-3):
                raise Mismatch("%s: %.12g, and differences give %.12g" % (output, found, expected))
    return compared


def gradient_of(text, napkin, folder, options=()):
    path = os.path.join(folder, "case.nap")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([napkin, "grad", path, *options], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def check(text, napkin, folder, numbers, directions=2):
    """Compares a diagram; None where it has no gradient."""
    code, out, err = gradient_of(text, napkin, folder)
    if code != 0:
        if any(one in err for one in NO_GRADIENT):
            return None
        raise Mismatch("napkin grad says\n" + err)
    forward, backward = in_f64(parse(text)), in_f64(parse(out))
    try:
        return compare(forward, backward, numbers, directions)
    except Mismatch as difference:
        raise Mismatch("%s\n%s\n%s" % (difference, text, out))


def at_other_sizes(text, rng, options, folder, numbers):
    """Compares a gradient at sizes that the file has not; None where it does not claim them, or napkin refuses them."""
    code, out, _ = gradient_of(text, options.napkin, folder)
    heading = " ".join(line[1:].strip() for line in out.split("\n") if line.startswith("#"))
    if code != 0 or " alone, since" in heading:
        return None
    sizes = {axis: rng.randint(1, 7) for axis in re.findall(r"(?m)^axis (\w+)", text) if rng.random() < 0.5}
    resized = lambda one: re.sub(r"(?m)^axis (\w+)( *)= (\d+)$",
                                 lambda found: "axis %s = %s" % (found[1], sizes.get(found[1], found[3])), one)
    for one in (text, out):
        if gradient_of(resized(one), options.napkin, folder)[0] != 0:
            return None
    try:
        return compare(in_f64(parse(resized(text))), in_f64(parse(resized(out))), numbers, 2)
    except Mismatch as difference:
        raise Mismatch("%s\n%s\n%s" % (difference, resized(text), resized(out)))


def examples(options, numbers, rng, folder, tally):
    pattern = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "*.nap")
    for path in sorted(glob.glob(pattern)):
        name = os.path.basename(path)
        if "gradient" in name or "backward" in name:
            continue
        with open(path) as file:
            text = file.read()
        for _ in range(3):
            run(name, drawn(text, rng, options, folder), options, folder, numbers, tally)


def drawn(text, rng, options, folder):
    """At sizes at which every index stays inside."""
    while True:
        made = small(text, rng)
        if "E0212" not in gradient_of(made, options.napkin, folder)[2]:
            return made


def randoms(options, numbers, folder, tally):
    start = time.time()
    for seed in range(options.seed, options.seed + options.count):
        if time.time() - start > options.seconds:
            break
        diagram = in_f64(diagrams.make(random.Random(seed)))
        diagram.axes = {name: ("number", min(size[1], 5.0)) if size[0] == "number" else size for name, size in diagram.axes.items()}
        run("random diagram %d" % seed, print_diagram(diagram), options, folder, numbers, tally)


def random_reads(options, numbers, folder, tally):
    start = time.time()
    for seed in range(options.seed, options.seed + options.count * 4):
        if time.time() - start > options.seconds:
            break
        text, rng = reads.Reads(seed).text(), random.Random(seed)
        run("random reads %d" % seed, text, options, folder, numbers, tally)
        run("random reads %d at other sizes" % seed, text, options, folder, numbers, tally,
            lambda: at_other_sizes(text, rng, options, folder, numbers))


def run(name, text, options, folder, numbers, tally, compare_=None):
    try:
        compared = compare_() if compare_ else check(text, options.napkin, folder, numbers)
    except Mismatch as difference:
        tally["failed"] += 1
        print("%s: %s" % (name, difference), flush=True)
        return
    tally["diagrams"] += compared is not None
    tally["without"] += compared is None
    tally["compared"] += compared or 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(HERE))
    p.add_argument("--napkin", default=os.path.join(root, "build", "release", "napkin"))
    p.add_argument("--count", type=int, default=60, help="random diagrams")
    p.add_argument("--seconds", type=float, default=25, help="for random diagrams, at most")
    p.add_argument("--seed", type=int, default=1)
    options = p.parse_args()
    numbers, rng = np.random.default_rng(options.seed), random.Random(options.seed)
    tally = {"diagrams": 0, "without": 0, "compared": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        examples(options, numbers, rng, folder, tally)
        randoms(options, numbers, folder, tally)
        random_reads(options, numbers, folder, tally)
    print("%(diagrams)d diagrams, %(compared)d directions compared, %(without)d without a gradient, %(failed)d wrong" % tally)
    return 1 if tally["failed"] or not tally["compared"] else 0


if __name__ == "__main__":
    sys.exit(main())
