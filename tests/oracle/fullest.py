"""Holds what `analyze` says that every memory holds, and whether a plan fits, against a walk of all groups.

On machines drawn at random, of random partitions by hand and of what the search finds there.
"""
import collections
import json
import os
import re
from dataclasses import dataclass, replace

import diagrams
import held
import ideal
import machines
import nests
import partitions
import transfers
from language import parse, print_diagram
from meaning import sizes_of
from wires import Wires

WHAT = ("memory differs", "room differs", "plan overfills", "memory refused")

# Diagrams of which every one has its own way to hold things; sizes are drawn.
FIXED = [
    ("a b c", "input A: f32[a, b]\ninput B: f16[b, c]\nC%s[a, c] = sum[b](A[a, b] * B[b, c])\noutput C"),
    ("q x d e", "input Q: f16[q, d]\ninput K: f16[x, d]\ninput V: f16[x, e]\nS[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))\n"
                "P[q, x] = softmax[x](where(x <= q + 3, S[q, x], -inf))\nO%s[q, e] = sum[x](P[q, x] * V[x, e])\noutput O"),
    ("r x", "input A: f32[r, x]\nB%s[r, x] = softmax[x](A[r, x])\noutput B"),
    ("r x", "input A: f16[r, x]\ninput G: f32[x]\nB%s[r, x] = layernorm[x](A[r, x]) * G[x]\noutput B"),
    ("r x o", "input A: f16[r, x]\ninput W: f16[x, o]\nB%s[r, o] = sum[x](layernorm[x](A[r, x]) * W[x, o])\noutput B"),
    ("n c o u i", "axis y = u + i - 1\ninput X: f16[n, c, y]\ninput W: f32[o, c, i]\n"
                  "Y%s[n, o, u] = sum[c, i](X[n, c, u + i] * W[o, c, i])\noutput Y"),
    ("q h e d", "input A: f32[q, h, d]\ninput B: f32[h, e]\nS[q, h] = sum[d](A[q, h, d])\nO%s[q, h, e] = exp(S[q, h]) * B[h, e]\noutput O"),
    ("a b c d", "input A: f32[a, b]\ninput B: f32[b, c]\ninput D: f32[c, d]\nC[a, c] = sum[b](A[a, b] * B[b, c])\n"
                "E%s[a, d] = sum[c](relu(C[a, c]) * D[c, d])\noutput E\noutput C"),
]


def draw_diagram(case, rng):
    """The case's own diagram, one of the fixed ones, or one whose transfers are counted."""
    roll = rng.random()
    if roll < 0.35 and not (case.derivation or {}).get("blocks"):
        return case.diagram
    if roll < 0.6:
        return parse(transfers.Family(rng).text())
    axes, body = rng.choice(FIXED)
    lines = ["axis %s = %d" % (axis, rng.randint(1 if rng.random() < 0.1 else 2, 20)) for axis in axes.split()]
    return parse("\n".join(["diagram d"] + lines + [body % rng.choice(["", ": f16", ": f64"])]) + "\n")


def draw_labels(rng, levels, groupable, streamable, sizes):
    """Groups and streams at every level; no group stands below a stream of its wire."""
    lengths, labels, streamed = {}, [], set()
    below = rng.random() < 0.4  # groups below the first level alone, where they wait for each other's pieces
    for level in levels:
        share = 0.35 if not below else 0 if level == levels[0] else 0.7
        groups = [wire for wire in groupable if wire not in streamed and rng.random() < share]
        inner = [wire for wire in streamable if not below or level != levels[0] or wire not in groupable] or streamable
        streams = rng.sample(inner, min(len(inner), rng.choice([0, 1, 1, 2, 2, 3])))
        streamed |= set(streams)
        for kind, wires in (("group", groups), ("stream", streams)):
            for wire in wires:
                whole = lengths.get(wire, sizes[wire.rstrip("'")])
                most = whole // 3 if below and kind == "group" else whole - (rng.random() < 0.8)
                lengths[wire] = rng.randint(1, max(1, most))
                labels.append(partitions.Label(kind, wire, lengths[wire], level))
    return labels


@dataclass
class Asked:
    """What napkin says of a plan: levels, whether it fits, and the nests of its kernels."""
    kernels: list
    nests: list


def ask(tools, text, levels, labels, where):
    """Asks for a plan, by hand or found; returns it, or None and why."""
    path = os.path.join(tools.folder, "machine%s.yaml" % where)
    with open(path, "w") as out:
        out.write(machines.profile(levels))
    options = ["analyze", "-", "--target", path, "--objective", "transfers", "--model", levels[0].model]
    options += ["--partition", partitions.text_of(labels)] if labels else []
    code, out, err = tools.run(*options, "--format", "json", text=text)
    if code not in (0, 1):
        return None, "analyze ends with %d: %s" % (code, err[-300:])
    kernels = json.loads(out).get("kernels") if out else None
    if not kernels:
        return None, ""
    code, out, err = tools.run(*options, "--print", "nest", text=text)
    if not out:
        return None, "--print nest ends with %d: %s" % (code, err[-300:])
    return Asked(kernels, re.split(r"\n\n(?=\S)", out.strip("\n"))), ""


class Arrays:
    """The arrays of a diagram: their wires, formats and bytes."""

    def __init__(self, diagram):
        self.sizes = sizes_of(diagram, {})
        wires = Wires(diagram)
        declared = list(diagram.inputs.items()) + [(s.name, (s.type, s.axes)) for s in diagram.statements]
        self.formats = dict(declared)
        self.wires = {name: wires.of_array(name, axes) for name, (_, axes) in declared}
        self.ends = list(diagram.inputs) + diagram.outputs

    def bytes(self, name):
        kind, axes = self.formats[name]
        size = held.BYTES[kind]
        for axis in axes:
            size *= self.sizes[axis]
        return size


def outermost(arrays, nest):
    """All inputs and outputs of the diagram, and what else the kernel reads and writes."""
    read = {read.array for column in nest.columns for read in column.reads} - nest.computed
    saved = {item.name for item in nest.root.leaves() if isinstance(item, nests.Save)}
    return sum(arrays.bytes(name) for name in read | saved | set(arrays.ends))


def overfilled(levels, walk, together, whole):
    """What does not fit, as overruns say it: (level, what) -> by how much. One group alone comes first."""
    found = {}
    if whole > levels[0].room():
        found[(levels[0].name, "memory of all arrays")] = whole - levels[0].room()
    for at, level in enumerate(levels[1:], 1):
        unit, beside = 0 if level.in_values else 1, walk.groups[at]
        one, room = walk.fullest(at, alone=True)[unit], level.room() * together[at - 1]
        every = walk.fullest(at)[unit] * (beside if level.shared else 1)
        if one > room:
            found[(level.name, "memory")] = one - room
        elif every > level.room_of_all():
            found[(level.name, "memory of all groups")] = every - level.room_of_all()
        if level.max_groups and beside > level.max_groups:
            found[(level.name, "groups")] = beside - level.max_groups
    return found


def compare(diagram, levels, labels, tools, counts, where="0"):
    """What is wrong with a plan, in two words and in more, or nothing. Without labels it is the plan that is found."""
    asked, why = ask(tools, print_diagram(diagram), levels, labels, where)
    if asked is None:
        counts["memory: partitions refused"] += not why
        return (WHAT[3], why) if why else ("", "")
    if len(asked.kernels) != len(asked.nests) or (labels and len(asked.kernels) > 1):
        counts["memory: parts or sweeps"] += 1
        return "", ""
    arrays = Arrays(diagram)
    for kernel, text in zip(asked.kernels, asked.nests):
        what, words = compare_kernel(kernel, text, arrays, levels, counts, found=not labels)
        if what:
            return what, words
    return "", ""


def compare_kernel(kernel, text, arrays, levels, counts, found):
    if any(array["array"] not in arrays.formats for level in kernel["levels"] for array in level["arrays"]):
        counts["memory: parts or sweeps"] += 1  # arrays that the file does not have
        return "", ""
    nest = nests.Nest(text, [level.name for level in levels], arrays.wires)
    if nest.unknown():
        counts["memory: not told by the nest"] += 1
        return "", ""
    try:
        walk = held.Walk(nest, levels, arrays.sizes, arrays.formats)
        walked = [walk.fullest(at) for at in range(1, len(levels))]
    except held.TooLong:
        counts["memory: too long a walk"] += 1
        return "", ""
    if walk.unclear:
        counts["memory: not told by the nest"] += 1
        return "", ""
    counts["memory: plans found and walked" if found else "memory: partitions walked"] += 1
    counts["memory: of these, groups wait"] += waits(walk)
    paper = ideal.IdealWalk(nest, levels, arrays.sizes, arrays.formats)
    for at, (level, right) in enumerate(zip(kernel["levels"], walked), 1):
        for kind, numbers in (("memory", right), ("memory_ideal", paper.fullest(at))):
            given = level[kind + "_values"], level[kind + "_bytes"]
            if given != numbers:
                return WHAT[0], "%s of %s is %d values in %d B, where %d in %d B is right, of %s" % (
                    kind, level["level"], *given, *numbers, kernel["partition_text"])
    walk = paper if levels[0].model == "ideal" else walk
    return compare_rooms(kernel, walk, levels, outermost(arrays, nest), counts, found)


def compare_rooms(kernel, walk, levels, whole, counts, found):
    right = overfilled(levels, walk, [level["together"] for level in kernel["levels"]], whole)
    given = {(one["level"], one["what"]): one["over"] for one in kernel["overruns"]}
    counts["memory: of these, fit"] += kernel["fits"]
    for level, own in zip(kernel["levels"], levels[1:]):
        if level["together"] > 1 and not (own is levels[-1] and own.shared and level["together"] <= own.max_groups):
            return WHAT[1], "%d groups hold a piece of %s together" % (level["together"], own.name)
    if kernel["fits"] and right:
        return WHAT[2] if found else WHAT[1], "it fits, where %s is right, of %s" % (right, kernel["partition_text"])
    if given != right:
        return WHAT[1], "over are %s, where %s is right, of %s" % (given, right, kernel["partition_text"])
    return "", ""


def waits(walk):
    """Whether groups take turns below a stream."""
    streamed = [loop.label.level for item in walk.needed for loop in item.parent.path()]
    return any(walk.turns_of(at) > 1 and any(level < at for level in streamed) for at in range(1, len(walk.machine)))


def check(case, rng, tools, counts, count):
    """Draws a diagram, and machines with partitions of it, and asks once for the best plan."""
    from check import Failure
    diagram = draw_diagram(case, rng)
    sizes = sizes_of(diagram, {})
    code, out, err = tools.run("derive", "-", "--format", "json", text=print_diagram(diagram))
    if code:
        return [] if diagram is case.diagram else [Failure(WHAT[3], err[:300], diagram, seed=case.seed)]
    derivation = json.loads(out)["kernels"][0]
    streamable = [one["axis"] for one in derivation["streamable"]]
    failures = []
    for turn in range(count + 1 if count else 0):
        levels = machines.draw(rng)
        labels = draw_labels(rng, [level.name for level in levels[1:]], derivation["groupable"], streamable, sizes)
        if turn == count:
            labels = []
        elif not labels:
            continue
        what, words = compare(diagram, levels, labels, tools, counts, str(case.seed))
        if what:
            failures.append(Failure(what, words, diagram, machines.profile(levels), labels, seed=case.seed))
    return failures


def check_one(failure, tools):
    """Whether a plan on a machine fails: the failure with what is wrong, or None."""
    text = failure.machine
    if "\n" not in text:
        with open(text) as profile:
            text = profile.read()
    what, words = compare(failure.diagram, machines.parse(text), failure.labels, tools, collections.Counter())
    return replace(failure, what=what, words=words, machine=text) if what else None
