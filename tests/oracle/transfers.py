"""Counts what crosses every border of a partition, from its labels and the rules of docs/theory.md (Transfers) alone.

The diagrams are of a family of their own: contractions, with something behind them, and softmaxes between two of them, over
windows and divided axes. Of each it is plain which loops an input is read in, namely the streams of the wires that its
reduction, with everything inside, varies with. There each load is counted once for every piece, clipped where it is ragged.
"""
import itertools
import json
import re
from dataclasses import dataclass, field, replace

import partitions
from language import parse, print_diagram
from meaning import sizes_of

WHAT = ("transfers differ", "transfers refused")


@dataclass
class Access:
    """An input, how its dimensions are indexed, and the wires of the reduction that reads it."""
    name: str
    dimensions: list  # of (kind, ..): ("plain", wire), ("window", step, wire, wire), ("divided", wire, by)
    column: set
    result: set = field(default_factory=set)  # wires of what the reduction gives, if that is all of the statement
    bound: set = field(default_factory=set)   # wires that it reduces
    wires: list = field(default_factory=list)

    def __post_init__(self):
        self.wires = sorted({part for dimension in self.dimensions for part in dimension[1:] if isinstance(part, str)})


class Family:
    """One random diagram of the family: its text and what it reads."""

    def __init__(self, rng):
        self.rng, self.lines, self.reads, self.outputs = rng, [], [], {}
        self.sizes, self.derived, self.statements = {}, [], []
        for turn in range(rng.choice([1, 1, 1, 2])):
            # Axes of its own for every kernel's part, since uses that never meet are different wires.
            self.own = {axis: axis + "2" * turn for axis in "qxdehw"}
            for axis, wire in self.own.items():
                self.sizes[wire] = rng.randint(1, 4) if axis == "w" else 1 if rng.random() < 0.1 else rng.randint(2, 24)
            self.between() if rng.random() < 0.4 else self.contraction()

    def text(self):
        used = set(re.findall(r"\b[qxdehw]2?\b", " ".join(self.statements + self.derived)))
        axes = ["axis %s = %d" % (axis, size) for axis, size in self.sizes.items() if axis in used]
        outputs = ["output " + name for name in self.outputs]
        return "\n".join(["diagram d"] + axes + self.derived + self.lines + self.statements + outputs) + "\n"

    def read(self, wires, column, window=""):
        """A new input over these wires, perhaps by a division, and the wire `window` in a window, as it is written."""
        rng, name = self.rng, "I%d" % len(self.reads)
        dimensions, axes, indices = [], [], []
        for wire in wires:
            axis = "%s_%s" % (name, wire)
            w = self.own["w"]
            if wire == window:
                step = rng.choice([1, 2])
                self.derived.append("axis %s = %d * (%s - 1) + %s" % (axis, step, wire, w))
                dimensions.append(("window", step, wire, w))
                indices.append("%d * %s + %s" % (step, wire, w) if step > 1 else "%s + %s" % (wire, w))
            elif rng.random() < 0.1:
                by = rng.choice([2, 3, 5])
                self.derived.append("axis %s = (%s + %d) / %d" % (axis, wire, by - 1, by))
                dimensions.append(("divided", wire, by))
                indices.append("%s / %d" % (wire, by))
            else:
                dimensions.append(("plain", wire))
                indices.append(wire)
                axis = wire
            axes.append(axis)
        self.lines.append("input %s: %s[%s]" % (name, rng.choice(["f32", "f16"]), ", ".join(axes)))
        self.reads.append(Access(name, dimensions, set(column)))
        return "%s[%s]" % (name, ", ".join(indices))

    def some(self, wires, least=1):
        count = self.rng.randint(least, len(wires))
        return self.rng.sample(wires, count)

    def state(self, kept, expression):
        name = "O%d" % len(self.outputs)
        self.outputs[name] = kept
        self.statements.append("%s[%s] = %s" % (name, ", ".join(kept), expression))

    def contraction(self):
        kept = [self.own[axis] for axis in self.rng.sample("qdh", self.rng.choice([1, 1, 2, 2, 3]))]
        bound = [self.own[axis] for axis in self.rng.sample("xew", self.rng.choice([1, 1, 2]))]
        # Every factor has all reduced wires, so that none of them leaves the sum.
        first = len(self.reads)
        factors = [self.factor(kept, bound) for _ in range(self.rng.choice([1, 2, 2]))]
        plain = self.rng.random() < 0.5
        column = {wire for access in self.reads[first:] for wire in access.wires}
        for access in self.reads[first:]:
            access.column, access.result, access.bound = column, set(kept if plain else []), set(bound)
        product = " * ".join(factors)
        product = self.rng.choice(["sum[%s](%s)", "sum[%s](%s)", "max[%s](%s)", "sum[%s](tanh(%s))"]) % (", ".join(bound), product)
        if not plain:  # behind the reduction is a column of its own
            product += " * " + self.read(self.some(kept), kept)
        self.state(kept, product)

    def factor(self, kept, bound):
        w = self.own["w"]
        if w not in bound or self.rng.random() < 0.5:
            return self.read(bound + self.some(kept, 0), kept + bound)
        wires = [wire for wire in bound if wire != w] + self.some(kept)
        return self.read(wires, kept + bound, window=self.rng.choice(wires))

    def between(self):
        q, h, d, x, e = (self.own[axis] for axis in "qhdxe")
        kept = self.rng.choice([[q], [q, h]])
        scores = "sum[%s](%s * %s)" % (d, self.read(kept + [d], kept + [d, x]), self.read([x, d], kept + [d, x]))
        name = "S%d" % len(self.outputs)
        self.statements.append("%s[%s] = %s" % (name, ", ".join(kept + [x]), scores))
        values = self.read([x, e], kept + [x, e])
        pattern = self.rng.choice(["softmax", "softmax", "l2norm"])
        self.state(kept + [e], "sum[%s](%s[%s](%s[%s]) * %s)" % (x, pattern, x, name, ", ".join(kept + [x]), values))


def leaves(size, lengths):
    """The pieces of a wire, cut again and again: (begin, length)."""
    pieces = [(0, size)]
    for length in lengths:
        pieces = [(at, min(length, begin + whole - at)) for begin, whole in pieces
                  for at in range(begin, begin + whole, length)]
    return pieces


def extent(dimension, pieces):
    """How many positions of a dimension pieces of its wires reach."""
    if dimension[0] == "plain":
        return pieces[dimension[1]][1]
    if dimension[0] == "window":
        _, step, wire, other = dimension
        return step * (pieces[wire][1] - 1) + pieces[other][1]
    _, wire, by = dimension
    begin, length = pieces[wire]
    return (begin + length - 1) // by - begin // by + 1


def moved(access, labels, sizes):
    """How many values are loaded in all, with the labels of this level and those above in the order of the nest."""
    # Until the first stream of a reduced wire makes it a state, the reduction has all wires of what it gives.
    first = min([at for at, l in enumerate(labels) if l.kind == "stream" and l.wire in access.bound], default=len(labels))
    own = [l for at, l in enumerate(labels)
           if l.kind == "group" or l.wire in access.column or (at < first and l.wire in access.result)]
    place = max([at for at, l in enumerate(own) if l.kind == "stream" and l.wire in access.wires], default=-1)
    counted = [l for at, l in enumerate(own) if l.kind == "group" or at <= place]
    cuts = {wire: leaves(sizes[wire], [l.size for l in counted if l.wire == wire])
            for wire in set(access.wires) | {l.wire for l in counted}}
    repeats = 1
    for wire, pieces in cuts.items():
        repeats *= len(pieces) if wire not in access.wires else 1
    total = 0
    for chosen in itertools.product(*(cuts[wire] for wire in access.wires)):
        pieces, size = dict(zip(access.wires, chosen)), 1
        for dimension in access.dimensions:
            size *= extent(dimension, pieces)
        total += size
    return total * repeats


def in_order(labels, levels):
    """Labels as the nest has them: level by level, groups in front of streams."""
    return [[l for kind in ("group", "stream") for l in labels if l.level == level and l.kind == kind] for level in levels]


def regroups(labels):
    """Whether a group lies below a stream of its wire: what stands in front of the stream would have no pieces."""
    streamed = set()
    for label in labels:
        if label.kind == "group" and label.wire in streamed:
            return True
        streamed |= {label.wire} if label.kind == "stream" else set()
    return False


def leaves_whole(labels, sizes):
    """Whether a label takes all that there is of its wire: of what it changes the document says nothing."""
    lengths = dict(sizes)
    for label in labels:
        if label.size >= lengths[label.wire]:
            return True
        lengths[label.wire] = label.size
    return False


def expected(family, labels, levels, sizes):
    """Values that cross into and out of every level, by array."""
    found, so_far = [], []
    for own in in_order(labels, levels):
        so_far = so_far + own
        counts = {a.name: moved(a, so_far, sizes) for a in family.reads}
        for name, kept in family.outputs.items():
            size = 1
            for wire in kept:
                size *= sizes[wire]
            counts[name] = size
        found.append(counts)
    return found


def analyzed(tools, text, plan):
    machine, labels = plan
    code, out, err = tools.run("analyze", "-", *partitions.MACHINES[machine][0], "--partition", partitions.text_of(labels),
                               "--format", "json", text=text)
    return code, json.loads(out) if code in (0, 1) and out else {}, err


def by_level(kernel):
    """Of each level, what moved by array, and the labels: below those that were asked for the search adds its own."""
    found = [{a["array"]: a["transfer_values"] for a in level["arrays"]} for level in kernel["levels"]]
    labels = [partitions.Label(l["kind"], l["axis"], l["size"], l["level"]) for l in kernel["partition"]]
    return found, labels


def check(case, rng, tools, counts, count):
    """Draws a diagram and partitions of it, and compares the counts."""
    from check import Failure
    family = Family(rng)
    text = family.text()
    diagram = parse(text)
    sizes = sizes_of(diagram, {})
    code, out, err = tools.run("derive", "-", "--format", "json", text=text)
    if code:
        return [Failure(WHAT[1], err[:300], diagram, seed=case.seed)]
    derivation = json.loads(out)["kernels"][0]
    streamable = [one["axis"] for one in derivation["streamable"] if one["axis"] in sizes]
    groupable = [wire for wire in derivation["groupable"] if wire in sizes]
    failures = []
    for _ in range(count):
        machine, labels = partitions.draw(rng, groupable, streamable, sizes)
        if labels and not regroups(labels) and not leaves_whole(labels, sizes):
            words = compare(family, text, (machine, labels), sizes, tools, counts)
            if words:
                failures.append(Failure(WHAT[0], words, diagram, machine, labels, seed=case.seed))
    return failures


def compare(family, text, plan, sizes, tools, counts):
    code, found, err = analyzed(tools, text, plan)
    if len(found.get("kernels", [])) > 1:
        return ""  # parts of an axis, which another kernel merges
    if not found.get("kernels"):
        return "" if code == 1 else "analyze ends with %d: %s" % (code, err[-300:])
    kernel = found["kernels"][0]
    levels = [level["level"] for level in kernel["levels"]]
    given, labels = by_level(kernel)
    counts["partitions counted"] += 1
    right = expected(family, labels, levels, sizes)
    for level, ours, theirs in zip(levels, right, given):
        if {name: n for name, n in ours.items() if n} != theirs:
            return "into %s go %s, where %s is right" % (level, theirs, ours)
    return ""
