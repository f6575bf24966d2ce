"""Makes a failure as small as it gets while it stays the same failure."""
import copy
import time
from dataclasses import replace

import machines
import partitions
from diagrams import drop_unused
from language import Statement, children, rebuilt, walk
from meaning import sizes_of


def shrink(failure, again, seconds):
    """`again(failure)` tells whether a smaller case fails in the same way: the new failure or None."""
    until, best, moved = time.time() + seconds, failure, True
    while moved and time.time() < until:
        moved = False
        for candidate in candidates(best):
            if time.time() > until:
                break
            found = attempt(candidate, again)
            if found and found.what == failure.what:
                best, moved = found, True
                break
    return best


def attempt(candidate, again):
    try:
        return again(candidate)
    except (KeyError, IndexError, ValueError, SyntaxError, ZeroDivisionError):
        return None


def candidates(f):
    """Smaller cases, those that take away most first."""
    yield from without_statements(f)
    yield from without_labels(f)
    yield from simpler_expressions(f)
    yield from shorter_axes(f)
    yield from plainer(f)
    yield from simpler_machines(f)


def with_diagram(f, diagram):
    drop_unused(diagram)
    wires = {l.axis() for l in f.labels}
    if not diagram.statements or not diagram.outputs:
        return None
    labels = [l for l in f.labels if l.axis() in diagram.axes] if wires else f.labels
    sizes = {axis: size for axis, size in f.sizes.items() if axis in diagram.axes}
    return replace(f, diagram=diagram, labels=labels, sizes=sizes)


def without_statements(f):
    for at, statement in enumerate(f.diagram.statements):
        diagram = copy.deepcopy(f.diagram)
        del diagram.statements[at]
        diagram.outputs = [name for name in diagram.outputs if name != statement.name]
        read = {node[1] for s in diagram.statements for node in walk(s.value) if node[0] == "read"}
        if statement.name in read:  # what read it reads an input of its form
            diagram.inputs[statement.name] = ("f64" if statement.type == "f64" else "f32", statement.axes)
        diagram.outputs = diagram.outputs or [s.name for s in diagram.statements][-1:]
        smaller = with_diagram(f, diagram)
        if smaller:
            yield smaller
    for name in f.diagram.outputs[:]:
        if len(f.diagram.outputs) > 1:
            diagram = copy.deepcopy(f.diagram)
            diagram.outputs.remove(name)
            yield with_diagram(f, diagram)


def without_labels(f):
    for at in range(len(f.labels)):
        if len(f.labels) > 1:
            yield replace(f, labels=f.labels[:at] + f.labels[at + 1:])


def places(node, path=()):
    yield path, node
    for at, child in enumerate(children(node)):
        if node[0] != "read":
            yield from places(child, path + (at,))


def put(node, path, new):
    if not path:
        return new
    parts = children(node)
    parts[path[0]] = put(parts[path[0]], path[1:], new)
    return rebuilt(node, parts)


def simpler_expressions(f):
    for at, statement in enumerate(f.diagram.statements):
        for path, node in places(statement.value):
            options = list(children(node)) if node[0] not in ("read", "number", "position", "size") else []
            if node[0] == "reduce" and len(node[2]) > 1:
                options += [("reduce", node[1], [a for a in node[2] if a != axis], node[3]) for axis in node[2]]
            if node[0] not in ("number", "read", "position"):
                options.append(("number", 1.0))
            for option in options:
                diagram = copy.deepcopy(f.diagram)
                diagram.statements[at].value = put(statement.value, path, option)
                smaller = with_diagram(f, diagram)
                if smaller:
                    yield smaller


def shorter_axes(f):
    for axis, size in f.diagram.axes.items():
        if size[0] != "number":
            continue
        for new in sorted({1, 2, int(size[1]) // 2, int(size[1]) - 1}):
            if 0 < new < size[1]:
                diagram = copy.deepcopy(f.diagram)
                diagram.axes[axis] = ("number", float(new))
                yield with_sizes(f, diagram, {})
        for new in sorted({1, 2, f.sizes.get(axis, 0) // 2, f.sizes.get(axis, 0) - 1}):
            if 0 < new < f.sizes.get(axis, 0):
                yield with_sizes(f, f.diagram, {axis: new})
    for at, label in enumerate(f.labels):
        for new in sorted({1, 2, label.size // 2, label.size - 1}):
            if 0 < new < label.size:
                labels = copy.deepcopy(f.labels)
                labels[at].size = new
                yield replace(f, labels=labels)


def with_sizes(f, diagram, changed):
    """The diagram with other planned sizes; those that were run stay unless they are changed."""
    base = [axis for axis, size in diagram.axes.items() if size[0] == "number"]
    same = f.sizes == sizes_of(f.diagram, {})
    given = {} if same and not changed else {a: changed.get(a, f.sizes[a]) for a in base if a in f.sizes}
    planned = sizes_of(diagram, {})
    labels = [replace(l, size=min(l.size, planned[l.axis()])) for l in f.labels]
    return replace(f, diagram=diagram, sizes=sizes_of(diagram, given) if f.sizes else {}, labels=labels)


def plainer(f):
    """Ordinary data, types of 32 bits, planned sizes."""
    if f.kind not in ("", "ordinary"):
        yield replace(f, kind="ordinary")
    if f.sizes and f.sizes != sizes_of(f.diagram, {}):
        yield replace(f, sizes=sizes_of(f.diagram, {}))
    for name, (kind, axes) in f.diagram.inputs.items():
        if kind not in ("f32", "bool"):
            diagram = copy.deepcopy(f.diagram)
            diagram.inputs[name] = ("f32", axes)
            yield replace(f, diagram=diagram)
        for axis in axes:
            fewer = without_dimension(f, name, axis)
            if fewer:
                yield fewer
    for at, statement in enumerate(f.diagram.statements):
        if statement.type != "f32":
            diagram = copy.deepcopy(f.diagram)
            diagram.statements[at] = Statement(statement.name, "f32", statement.axes, statement.value)
            yield replace(f, diagram=diagram)


def simpler_machines(f):
    """Of a machine that was drawn: memories of their own, fewer children, no limits."""
    levels = machines.parse(f.machine) if "\n" in f.machine else []
    for at, level in enumerate(levels):
        for changed in ({"shared": False, "capacity": level.room(), "usable": 0}, {"count": 1}, {"usable": 0}, {"max_groups": 0},
                        {"in_values": False}):
            simpler = levels[:at] + [replace(level, **changed)] + levels[at + 1:]
            if simpler != levels:
                yield replace(f, machine=machines.profile(simpler))


def without_dimension(f, name, axis):
    """An input with one dimension fewer, wherever it is read."""
    diagram = copy.deepcopy(f.diagram)
    kind, axes = diagram.inputs[name]
    at = axes.index(axis)
    diagram.inputs[name] = (kind, axes[:at] + axes[at + 1:])

    def shorter(node):
        if node[0] == "read" and node[1] == name:
            return ("read", name, node[2][:at] + node[2][at + 1:])
        return rebuilt(node, [shorter(child) for child in children(node)])

    for statement in diagram.statements:
        statement.value = shorter(statement.value)
    return with_diagram(f, diagram)
