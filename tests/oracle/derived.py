"""Runs the programs that `napkin derive` gives for every stream, on pieces cut at random, and merges two states of them."""
import re
import traceback
from dataclasses import replace

import numpy as np

import data
from language import Reader, Statement, walk
from meaning import Evaluator, Named, evaluate
from ranged import Condition, Ranged
from wires import Wires

WHAT = ("wrong derivation", "derivation not understood")
CUTS = 2  # how often each wire is cut anew, the first time without a merge
STREAMS = 4  # of each diagram


class Sizes(dict):
    """Sizes of axes, and of wires by their axis."""

    def __missing__(self, wire):
        return self[wire.rstrip("'")] if wire.endswith("'") else dict.__getitem__(self, wire)


class Program(Evaluator):
    """Evaluates programs: names stand for temporaries and states, or for arrays on a piece."""

    def __init__(self, wires, diagram, sizes, inputs):
        arrays = {}
        for name, (kind, axes) in diagram.inputs.items():
            values = inputs[name]
            held = Condition(values.astype(bool), np.zeros(values.shape, bool)) if kind == "bool" else Ranged(values, np.zeros_like(values))
            arrays[name] = (wires.of_array(name, axes), held)
        super().__init__(Sizes(sizes), arrays, "f64")
        self.own = {s.name: wires.of_array(s.name, s.axes) for s in diagram.statements}
        self.values = {}

    def on_name(self, node):
        return self.values[node[1]] if node[1] in self.values else super().on_name(node)

    def on_read(self, node):
        """An array of a statement may lack wires that it does not vary with, and hold a piece of others."""
        if node[1] not in self.values:
            return super().on_read(node)
        held = self.values[node[1]]
        indices = [self.index(index) for wire, index in zip(self.own[node[1]], node[2]) if wire in held.axes]
        wires = [wire for wire in self.own[node[1]] if wire in held.axes]
        axes = sorted(set(axis for own, _ in indices for axis in own))
        places = {}
        for wire, (own, place) in zip(wires, indices):
            there = np.searchsorted(self.range_of(wire), place)
            places[wire] = there[tuple(slice(None) if axis in own else None for axis in axes)]
        at = tuple(places[wire] for wire in held.axes)
        return Named(axes, type(held.data)(*(np.broadcast_to(part[at], self.shape(axes)) for part in held.parts())))

    def on_call(self, node):
        """exp(a - b) is 0 where a is minus infinity, whatever b is."""
        value = super().on_call(node)
        if node[1] != "exp" or node[2][0][0] != "-":
            return value
        axes, (result, a) = self.over_same([value, self.evaluate(node[2][0][1])])
        return Named(axes, Ranged(np.where(a.value == -np.inf, 0, result.value), result.radius))

    @staticmethod
    def over_same(values):
        axes = sorted(set(axis for value in values for axis in value.axes))
        return axes, [value.over(axes) for value in values]

    def run(self, assignments):
        """A temporary that is rounded has its type at the end of its name."""
        for name, expression in assignments:
            value = self.evaluate(expression)
            rounded = re.search(r"_(f16|bf16|f8e4m3|f8e5m2|i8|i32)\d*$", name)
            if rounded:
                value = Named(value.axes, self.arithmetic.cast(value.data, rounded.group(1)))
            self.values[name] = value


class Known:
    """Names that are wires: those of axes, with any number of primes."""

    def __init__(self, axes):
        self.axes = set(axes)

    def __contains__(self, name):
        return name.rstrip("'") in self.axes


def read_program(one, sizes):
    """The assignments of every part: (name, expression)."""
    parts = {}
    for part in ("before", "init", "piece", "absorb", "merge", "finish"):
        parts[part] = []
        for line in one[part]:
            reader = Reader(line)
            reader.axes = Known(sizes)
            name = reader.word()
            reader.need("=")
            parts[part].append((name, reader.expression()))
    return parts


def says_two_things(parts):
    """Whether a name stands for a sum and, later, for what a statement makes of it, while others read the name: which of
    the two they mean does not follow from the text."""
    lines = [line for part in ("before", "init", "piece", "absorb", "finish") for line in parts[part]]
    made = [name for part in ("before", "piece", "finish") for name, _ in parts[part]] + [name for name, _ in parts["init"]]
    twice = {name for name in made if made.count(name) > 1}
    return any(node[0] in ("name", "read") and node[1] in twice and node[1] != name
               for name, value in lines for node in walk(value))


def cut(rng, size, several):
    """Places where a wire is cut into pieces, into several where there can be."""
    how = rng.randint(1 if several else 0, 3)
    if how == 0:
        return [range(size)]
    if how == 1:
        return [range(at, at + 1) for at in range(size)]
    length = rng.randint(1, max(1, size - 1) if several else size)
    return [range(at, min(at + length, size)) for at in range(0, size, length)]


def absorb_all(program, parts, wire, pieces, kept):
    """Begins a state and absorbs pieces; collects what keeps the wire."""
    program.run(parts["init"])
    for piece in pieces:
        program.positions[wire] = piece
        program.run(parts["piece"])
        program.run(parts["absorb"])
        for name in kept:
            if name in program.values and wire in program.values[name].axes:
                kept[name].append(program.values[name])
    program.positions.pop(wire, None)


def joined(pieces, wire):
    at = pieces[0].axes.index(wire)
    shape = np.broadcast_shapes(*(np.delete(np.array(p.parts()[0].shape), at).tolist() for p in pieces))
    parts = []
    for side in (0, 1):
        wide = [np.broadcast_to(p.parts()[side], list(shape[:at]) + [p.parts()[side].shape[at]] + list(shape[at:])) for p in pieces]
        parts.append(np.concatenate(wide, at))
    return Named(pieces[0].axes, type(pieces[0].data)(*parts))


def run_program(program, one, parts, wire, rng, merged):
    """Everything that the program gives: its values after the last piece."""
    size = program.sizes[wire]
    statements = list(program.own)
    program.values = {}
    program.run(parts["before"])
    kept = {name: [] for name in statements}
    pieces = cut(rng, size, merged)
    half = rng.randint(1, len(pieces) - 1) if merged and len(pieces) > 1 else len(pieces)
    absorb_all(program, parts, wire, pieces[:half], kept)
    if half < len(pieces):
        states = [state["name"] for state in one["state"]]
        first = {name: program.values[name] for name in states}
        absorb_all(program, parts, wire, pieces[half:], kept)
        for name in states:
            program.values[name + "'"] = program.values[name]
        program.values.update(first)
        program.run(parts["merge"])
    for name, found in kept.items():
        if found:
            program.values[name] = joined(found, wire)
    program.run(parts["finish"])


def rounds_within(diagram):
    """Whether a statement reads what another one has rounded to fewer digits: programs do not always say so."""
    narrow = {s.name for s in diagram.statements if s.type not in ("f32", "f64")}
    return any(node[0] == "read" and node[1] in narrow for s in diagram.statements for node in walk(s.value))


def unrounded(diagram):
    """The diagram with types that round nothing: programs do not say what statements round."""
    kept = [Statement(s.name, "f64", s.axes, s.value) for s in diagram.statements]
    return replace(diagram, statements=kept)


def check(case, rng, counts, only=""):
    """What is wrong with the programs of a diagram's streams."""
    failures = []
    if rounds_within(case.diagram):
        return failures
    wires = Wires(case.diagram)
    kind = rng.choice(data.KINDS)
    case_sizes = case.planned
    inputs, _ = case.meaning(case_sizes, kind)
    right = evaluate(unrounded(case.diagram), case_sizes, inputs)
    streams = case.derivation["streamable"]
    chosen = [one for one in streams if one["axis"] == only] or rng.sample(streams, min(len(streams), STREAMS))
    for one in chosen:
        counts["streams"] += 1
        try:
            words = check_stream(case, one, wires, inputs, right, rng, counts)
            what = WHAT[0]
        except Exception:
            words, what = traceback.format_exc(limit=-4), WHAT[1]
        if words:
            failures.append(case.failure(what, "stream of %s: %s" % (one["axis"], words), kind=kind, wire=one["axis"]))
    return failures


def check_stream(case, one, wires, inputs, right, rng, counts):
    from check import difference
    program = Program(wires, case.diagram, case.wires, inputs)
    parts = read_program(one, case.wires)
    if says_two_things(parts):
        counts["streams left out"] += 1
        return ""
    for turn in range(CUTS):
        with np.errstate(all="ignore"):
            run_program(program, one, parts, one["axis"], rng, merged=turn > 0)
        for name in case.diagram.outputs:
            if name not in program.values:
                return "no program gives %s" % name
            wide = laid_out(program.values[name], program.own[name], program.sizes)
            words = difference(name, wide, right[name][1])
            if words:
                return words + (" (two states merged)" if turn > 0 else "")
    return ""


def laid_out(value, wires, sizes):
    names = sorted(wires)
    shape = [sizes[wire] for wire in names]
    return np.transpose(np.broadcast_to(value.over(names).value, shape), [names.index(wire) for wire in wires])
