"""Sizes at which a kernel is run: those of its plan, small ones, ragged ones, and rows that no vector divides."""
import math

BYTES = {"f64": 8, "f32": 4, "tf32": 4, "i32": 4, "f16": 2, "bf16": 2, "f4e2m1": 0.5, "i4": 0.5}


def size_value(node, sizes):
    if node[0] == "number":
        return int(node[1])
    if node[0] in ("position", "size", "name"):
        return sizes[node[1]]
    a, b = size_value(node[1], sizes), size_value(node[2], sizes)
    return {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[node[0]]


def all_sizes(diagram, given):
    """Of every axis; `given` replaces plain numbers."""
    sizes = {}
    for name, size in diagram.axes.items():
        plain = size is None or size[0] == "number"
        sizes[name] = given[name] if plain and name in given else size_value(size, sizes)
    return sizes


def plain_axes(diagram):
    return [name for name, size in diagram.axes.items() if size is None or size[0] == "number"]


def names_in(node):
    if node[0] in ("position", "name"):
        return {node[1]}
    return set() if node[0] in ("number", "size") else names_in(node[1]) | names_in(node[2])


def divided(diagram):
    """Axes of which others are made by division, which want multiples, and by what they are divided."""
    found = {}
    for size in diagram.axes.values():
        if size and size[0] == "/" and size[2][0] == "number":
            for axis in names_in(size[1]):
                found[axis] = math.lcm(found.get(axis, 1), int(size[2][1]))
    return found


def ragged(diagram, small, limits, odd):
    """Longer than the small ones by a half and a bit; `odd`: so that rows do not begin at multiples of 16 bytes. Axes
    that kernels hold for up to a limit alone, and short ones, stay."""
    sizes, blocks = dict(small), divided(diagram)
    for axis in plain_axes(diagram):
        size = small[axis]
        if axis in blocks:
            sizes[axis] = size // blocks[axis] * blocks[axis] + blocks[axis]
        elif limits.get(axis) is None and size >= 16:
            sizes[axis] = size + size // 2 + (9 if odd else 8)
        elif limits.get(axis) is not None and odd and size >= 16:
            sizes[axis] = size - 3
    return {axis: sizes[axis] for axis in plain_axes(diagram)}


def bytes_once(arrays, sizes):
    """Inputs and outputs, each once."""
    return sum(math.ceil(BYTES.get(one["type"], 1) * math.prod(sizes[axis] for axis in one["axes"]))
               for one in arrays)


def aligned(arrays, sizes):
    """Whether every row of every array begins at a multiple of 16 bytes, as TMA wants it."""
    rows = [sizes[one["axes"][-1]] * BYTES.get(one["type"], 1) for one in arrays if len(one["axes"]) > 1]
    return all(row % 16 == 0 for row in rows)


def fits(limits, sizes):
    return all(most is None or sizes[axis] <= most for axis, most in limits.items() if axis in sizes)
