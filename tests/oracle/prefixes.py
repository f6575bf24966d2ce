#!/usr/bin/env python3
"""Random reductions of what lies before or behind a position, as `napkin derive` writes them in chunks, against their
meaning: both are evaluated in numpy, which shares nothing with napkin but the language.

    tests/oracle/prefixes.py --count 2000 --seed 7
"""
import argparse
import json
import os
import random
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import check  # noqa: E402
import data  # noqa: E402
from language import parse, walk  # noqa: E402
from meaning import Evaluator, evaluate, sizes_of, stored  # noqa: E402
from ranged import Condition, exact  # noqa: E402

EDGES = ["x <= t", "x < t", "t >= x", "x >= t", "x > t", "not (x < t)", "not (x > t)", "x < t + 1", "x + 1 <= t", "x > t - 1"]


class Drawing:
    """One diagram whose statement Y reduces what lies on one side of each t."""

    def __init__(self, rng):
        self.rng = rng
        self.size = rng.choice([4, 6, 8, 9, 12, 15, 20, 24])
        self.inputs = {}

    def input(self, name, axes, types=("f32", "f32", "f16", "f64")):
        self.inputs.setdefault(name, (self.rng.choice(types), axes))
        return "%s[%s]" % (name, ", ".join(axes))

    def edge(self):
        edge = self.rng.choice(EDGES)
        if self.rng.random() < 0.15:
            edge += " and " + self.input("M", ["r", "x"], ("bool",))
        if self.rng.random() < 0.1:
            edge += " and " + self.input("N", ["r", "t"], ("bool",))
        return edge

    def of_x(self, more=()):
        return self.input(self.rng.choice("AB"), ["r", "x"]) if not more else self.input("K", ["r", "x", *more])

    def of_t(self, more=()):
        return self.input(self.rng.choice("CD"), ["r", "t"]) if not more else self.input("Q", ["r", "t", *more])

    def decay(self, more=()):
        """The exponential of a part of x and one of t, which may be beyond all formats alone."""
        if more and self.rng.random() < 0.5:
            return "exp(%s - %s)" % (self.input("G", ["r", "t", "d"]), self.input("H", ["r", "x", "d"]))
        return self.rng.choice([
            "exp(%s * (x - t))" % self.input("w", ["r"]),
            "exp(-abs(%s) * (t - x))" % self.input("w", ["r"]),
            "exp(%s - %s)" % (self.input("G1", ["r", "t"]), self.input("H1", ["r", "x"])),
            "exp((%s + %s) / 2)" % (self.input("G1", ["r", "t"]), self.input("H1", ["r", "x"])),
            "exp(L[r, t] - L[r, x])"])

    def product(self):
        factors = [self.of_x()]
        if self.rng.random() < 0.5:
            factors.append(self.of_t())
        if self.rng.random() < 0.4:
            factors.append(self.decay())
        if self.rng.random() < 0.5:
            inner = [self.of_t(["d"]), self.of_x(["d"])] + ([self.decay(["d"])] if self.rng.random() < 0.4 else [])
            self.rng.shuffle(inner)
            factors.append("sum[d](%s)" % " * ".join(inner))
        self.rng.shuffle(factors)
        text = " * ".join(factors)
        if self.rng.random() < 0.2:
            text += " / (1 + abs(%s))" % self.rng.choice([self.of_x, self.of_t])()
        return text

    def value(self):
        kind = self.rng.random()
        if kind < 0.6:
            behind = " * " + self.input("V", ["r", "x", "e"]) if self.rng.random() < 0.4 else ""
            return "sum[x](where(%s, %s, 0)%s)" % (self.edge(), self.product(), behind), ["e"] if behind else []
        if kind < 0.75:
            name, none = self.rng.choice([("max", "-inf"), ("min", "inf")])
            inside = self.rng.choice(["%s", "%s + " + self.of_t(), "2 * %s - " + self.of_t()]) % self.of_x()
            return "%s[x](where(%s, %s, %s))" % (name, self.edge(), inside, none), []
        if kind < 0.85:
            return "prod[x](where(%s, 1 + tanh(%s) / 4, 1))" % (self.edge(), self.of_x()), []
        return "logsumexp[x](where(%s, %s, -inf))" % (self.rng.choice(EDGES), self.of_x()), []

    def text(self):
        value, more = self.value()
        lines = ["diagram d"] + ["axis %s = %d" % (axis, self.size) for axis in self.rng.sample("tx", 2)]
        lines += ["axis r = %d" % self.rng.randint(1, 3), "axis d = %d" % self.rng.randint(1, 4), "axis e = %d" % self.rng.randint(1, 4)]
        if "L[" in value:
            lines.append("axis s = %d" % self.size)
            self.input("a", ["r", "s"])
        for name, (kind, axes) in self.inputs.items():
            lines.append("input %s: %s[%s]" % (name, kind, ", ".join(axes)))
        if "L[" in value:
            lines.append("L[r, t] = sum[s](where(s <= t, -abs(a[r, s]), 0))")
        own = ["r", "t"] + more
        lines += ["Y: %s[%s] = %s" % (self.rng.choice(["f32", "f32", "f64"]), ", ".join(own), value), "output Y"]
        return "\n".join(line for line in lines if self.is_used(line, value)) + "\n"

    def is_used(self, line, value):
        words = line.split()
        return words[0] != "axis" or words[1] in "tr" or any(words[1] in axes for _, axes in self.inputs.values()) or words[1] in value


def derived(options, text):
    ran = subprocess.run([options.napkin, "derive", "-", "--format", "json"], input=text, capture_output=True, text=True, timeout=60)
    if ran.returncode:
        raise RuntimeError("derive ends with %d: %s" % (ran.returncode, ran.stderr + ran.stdout[-500:]))
    return json.loads(ran.stdout)["kernels"][0]["prefixes"]


def in_chunks(diagram, prefixes, length):
    """The statements in chunks: name, axes in the order in which others read it, value; and the sizes of all axes."""
    sizes = sizes_of(diagram, {})
    cut = {made["axis"]: (made["chunk"], made["inside"]) for made in prefixes["made"]}
    whole = next(iter(cut))
    chunk, inside = cut[whole]
    for axis in list(sizes):
        if sizes[axis] == sizes[whole] and axis in "txs":
            sizes.update({axis + "_chunk": sizes[axis] // length, axis + "_in_chunk": length})
    plain = lambda text: text.replace("#", "_n")
    head = "diagram d\n" + "".join("axis %s = %d\n" % (axis, size) for axis, size in sizes.items())
    given = "".join("input %s: %s[%s]\n" % (name, kind, ", ".join(axes)) for name, (kind, axes) in diagram.inputs.items())
    values = {plain(one["array"]): plain(one["value"]) for one in prefixes["statements"]}
    axes = {}
    for name in values:
        own = diagram.statement(name)
        axes[name] = [part for axis in own.axes for part in ((chunk, inside) if axis == whole else (axis,))] if own else None
    body = ""
    for name, text in values.items():
        body += "%s[%s] = %s\n" % (name, ", ".join(axes[name] or [chunk]), text)
    read = parse(head + given + body + "output Y\n")
    for statement in read.statements:
        for node in walk(statement.value):
            if node[0] == "read" and axes.get(node[1], 0) is None:
                axes[node[1]] = [chunk if index[1].endswith("_chunk") else index[1] for index in node[2]]
    return [(one.name, axes[one.name] or [chunk], one.value) for one in read.statements], sizes


def chunked_values(diagram, statements, sizes, inputs):
    arrays = {name: (axes, given(inputs[name], kind)) for name, (kind, axes) in diagram.inputs.items()}
    for name, axes, value in statements:
        own = diagram.statement(name)
        evaluator = Evaluator(sizes, arrays, "f64", diagram.defs)
        made = stored(evaluator.evaluate(value), axes, sizes, own.type if own else "f64", evaluator.arithmetic)
        arrays[name] = (axes, exact(made.value))  # how far off it may be is asked of the meaning alone
    return arrays


def given(values, kind):
    return Condition(values.astype(bool), np.zeros(values.shape, bool)) if kind == "bool" else exact(values)


def length_of(prefixes, size):
    """That of the chunks that the statements are written with: the shortest."""
    return next(n for n in range(2, size) if size % n == 0)


def compare(options, seed, tally):
    rng = random.Random(seed)
    text = Drawing(rng).text()
    diagram = parse(text)
    prefixes = derived(options, text)
    if prefixes["refused"] or not prefixes["made"]:
        return "not taken apart: %s" % prefixes["refused"]
    statements, sizes = in_chunks(diagram, prefixes, length_of(prefixes, sizes_of(diagram, {})["t"]))
    # Exponents of 1e9 and more have no digits left behind the point, here or in a kernel (docs/theory.md, S9).
    for kind in rng.sample([one for one in data.KINDS if one != "huge" or "exp(" not in text], 3):
        generator = np.random.default_rng([seed, data.KINDS.index(kind)])
        inputs = data.all_inputs(generator, kind, diagram, sizes_of(diagram, {}))
        with np.errstate(all="ignore"):
            meant = evaluate(diagram, sizes_of(diagram, {}), inputs)["Y"][1]
            got = chunked_values(diagram, statements, sizes, inputs)["Y"][1].value.reshape(meant.value.shape)
            words = check.difference("Y", got, meant)
        tally["compared"] += 1
        if words:
            return "%s data: %s" % (kind, words)
    return None


def planted(options):
    """Whether changed statements are noticed: a chunk left out, and an edge off by one."""
    text = "diagram d\naxis t = 12\naxis x = 12\ninput A: f32[x]\nY[t] = sum[x](where(x <= t, A[x], 0))\noutput Y\n"
    diagram, prefixes = parse(text), derived(options, text)
    noticed = 0
    for right, wrong in (("x_chunk < t_chunk", "x_chunk + 1 < t_chunk"), ("x_in_chunk <= t_in_chunk", "x_in_chunk < t_in_chunk")):
        changed = json.loads(json.dumps(prefixes).replace(right, wrong))
        statements, sizes = in_chunks(diagram, changed, 2)
        inputs = data.all_inputs(np.random.default_rng(1), "ordinary", diagram, sizes_of(diagram, {}))
        meant = evaluate(diagram, sizes_of(diagram, {}), inputs)["Y"][1]
        got = chunked_values(diagram, statements, sizes, inputs)["Y"][1].value.reshape(meant.value.shape)
        noticed += changed != prefixes and bool(check.difference("Y", got, meant))
    return noticed == 2


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--napkin", default=os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "release", "napkin"))
    p.add_argument("--count", type=int, default=400)
    p.add_argument("--seed", type=int, default=1)
    options = p.parse_args()
    if not planted(options):
        print("a planted error is not noticed")
        return 1
    tally = {"compared": 0, "failed": 0}
    for seed in range(options.seed, options.seed + options.count):
        try:
            words = compare(options, seed, tally)
        except Exception as error:  # of this program, or of napkin: say for which diagram
            words = "%s: %s" % (type(error).__name__, error)
        if words:
            tally["failed"] += 1
            print("%s\n%s" % (words, Drawing(random.Random(seed)).text()), flush=True)
    print("%d diagrams, %d results compared, %d wrong" % (options.count, tally["compared"], tally["failed"]))
    return 1 if tally["failed"] or not tally["compared"] else 0


if __name__ == "__main__":
    sys.exit(main())
