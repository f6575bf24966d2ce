"""What a diagram means: every statement evaluated plainly, with arrays whose dimensions are named by axes."""
import math
import numpy as np

from formats import WIDE, round_to
from language import expand
from ranged import Arithmetic, Condition, Ranged, choose, compare, distance, exact, extreme, extreme_of

ERF = np.vectorize(math.erf, otypes=[float])
FUNCTIONS = {
    "exp": (np.exp, -np.inf), "exp2": (np.exp2, -np.inf), "log": (np.log, 0), "log2": (np.log2, 0),
    "sqrt": (np.sqrt, 0), "rsqrt": (lambda x: 1 / np.sqrt(x), 0), "tanh": (np.tanh, -np.inf),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -np.inf), "erf": (lambda x: ERF(x).astype(WIDE), -np.inf),
    "relu": (lambda x: np.maximum(x, 0), -np.inf),
}


class Named:
    """Numbers or conditions over named axes, in alphabetical order of the names."""

    def __init__(self, axes, data):
        self.axes, self.data = tuple(axes), data

    def parts(self):
        if isinstance(self.data, Condition):
            return self.data.value, self.data.unsure
        return self.data.value, self.data.radius

    def over(self, axes):
        """The same with a dimension of length one for every axis that it lacks."""
        shape = [slice(None) if axis in self.axes else None for axis in axes]
        kind = type(self.data)
        return kind(*(part[tuple(shape)] for part in self.parts()))


def size_value(node, sizes):
    """The size of an axis."""
    kind = node[0]
    if kind == "number":
        return int(node[1])
    if kind in ("position", "size", "name"):
        return sizes[node[1]]
    a, b = size_value(node[1], sizes), size_value(node[2], sizes)
    return {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[kind]


def sizes_of(diagram, given):
    """The sizes of all axes; `given` replaces those of the file that are plain numbers."""
    sizes = {}
    for name, size in diagram.axes.items():
        sizes[name] = given[name] if name in given else size_value(size, sizes)
    return sizes


class Evaluator:
    """Evaluates expressions over arrays: name -> (axes as declared, Ranged or Condition)."""

    def __init__(self, sizes, arrays, kind, defs=(), positions=None):
        self.sizes, self.arrays, self.defs = sizes, arrays, dict(defs)
        self.positions = positions or {}  # axis -> the positions that are looked at, where not all are
        self.kind, self.arithmetic = kind, Arithmetic(kind)

    def range_of(self, axis):
        return np.asarray(self.positions.get(axis, range(self.sizes[axis])))

    def evaluate(self, node):
        with np.errstate(all="ignore"):
            return getattr(self, "on_" + SPELLED.get(node[0], node[0]))(node)

    def together(self, nodes):
        """Several values over the same axes."""
        values = [self.evaluate(node) for node in nodes]
        axes = sorted(set(axis for value in values for axis in value.axes))
        return axes, [value.over(axes) for value in values]

    def on_number(self, node):
        value = exact(node[1])
        nearest = round_to(value.value, self.kind)  # in the format it may have no exact form
        return Named((), Ranged(value.value, distance(nearest, value.value)))

    def on_position(self, node):
        return Named((node[1],), exact(self.range_of(node[1])))

    def on_size(self, node):
        return Named((), exact(self.sizes[node[1]]))

    def on_name(self, node):
        axes, data = self.arrays[node[1]]
        return self.on_read(("read", node[1], [("position", axis) for axis in axes]))

    def on_read(self, node):
        _, data = self.arrays[node[1]]
        indices = [self.index(index) for index in node[2]]
        axes = sorted(set(axis for index in indices for axis in index[0]))
        places = tuple(place[tuple(slice(None) if axis in own else None for axis in axes)] for own, place in indices)
        if isinstance(data, Condition):
            return Named(axes, Condition(*(np.broadcast_to(part[places], self.shape(axes)) for part in (data.value, data.unsure))))
        return Named(axes, Ranged(*(np.broadcast_to(part[places], self.shape(axes)) for part in (data.value, data.radius))))

    def shape(self, axes):
        return [len(self.range_of(axis)) for axis in axes]

    def index(self, node):
        """Whole positions over axes; a division rounds down."""
        kind = node[0]
        if kind == "number":
            return (), np.asarray(int(node[1]))
        if kind == "position":
            return (node[1],), self.range_of(node[1])
        if kind == "size":
            return (), np.asarray(self.sizes[node[1]])
        if kind == "negate":
            axes, value = self.index(node[1])
            return axes, -value
        (a_axes, a), (b_axes, b) = self.index(node[1]), self.index(node[2])
        axes = sorted(set(a_axes) | set(b_axes))
        a, b = (value[tuple(slice(None) if axis in own else None for axis in axes)] for own, value in ((a_axes, a), (b_axes, b)))
        return axes, {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.floor_divide}[kind](a, b)

    def on_where(self, node):
        axes, (condition, a, b) = self.together(node[1:])
        return Named(axes, choose(condition, a, b))

    def on_cast(self, node):
        value = self.evaluate(node[2])
        return Named(value.axes, self.arithmetic.cast(value.data, node[1]))

    def on_negate(self, node):
        value = self.evaluate(node[1])
        return Named(value.axes, Ranged(-value.data.value, value.data.radius))

    def on_call(self, node):
        axes, values = self.together(node[2])
        if node[1] in ("max", "min"):
            return Named(axes, extreme_of(*values, node[1] == "max"))
        a = values[0]
        if node[1] == "abs":
            return Named(axes, Ranged(np.abs(a.value), a.radius))
        f, least = FUNCTIONS[node[1]]
        if node[1] == "relu":
            return Named(axes, extreme_of(a, exact(0), True))
        found = self.arithmetic.function(a, f, least)
        return Named(axes, self.arithmetic.without_exponential(a, found) if node[1] == "sigmoid" else found)

    def on_reduce(self, node):
        value = self.evaluate(node[3])
        axes = sorted(set(value.axes) | set(node[2]))
        shape = self.shape(axes)
        data = Ranged(*(np.broadcast_to(part, shape) for part in (value.over(axes).value, value.over(axes).radius)))
        folded = tuple(axes.index(axis) for axis in node[2])
        kept = [axis for axis in axes if axis not in node[2]]
        fold = {"sum": self.arithmetic.total, "prod": self.arithmetic.product,
                "max": lambda a, over: extreme(a, over, True), "min": lambda a, over: extreme(a, over, False)}[node[1]]
        return Named(kept, fold(data, folded))

    def on_def(self, node):
        return self.evaluate(expand(node, self.defs))

    def on_not(self, node):
        value = self.evaluate(node[1])
        return Named(value.axes, Condition(~value.data.value, value.data.unsure))

    def on_and(self, node):
        axes, (a, b) = self.together(node[1:])
        refuted = (~a.value & ~a.unsure) | (~b.value & ~b.unsure)
        return Named(axes, Condition(a.value & b.value, (a.unsure | b.unsure) & ~refuted))

    def on_or(self, node):
        axes, (a, b) = self.together(node[1:])
        proven = (a.value & ~a.unsure) | (b.value & ~b.unsure)
        return Named(axes, Condition(a.value | b.value, (a.unsure | b.unsure) & ~proven))

    def on_compare(self, node):
        axes, (a, b) = self.together(node[1:])
        return Named(axes, compare(node[0], a, b))

    def on_arithmetic(self, node):
        if node[0] == "*" and node[1] == node[2]:
            return self.on_power(("^", node[1], ("number", 2.0)))
        axes, (a, b) = self.together(node[1:])
        if node[0] in "+-":
            return Named(axes, self.arithmetic.add(a, b, 1 if node[0] == "+" else -1))
        return Named(axes, (self.arithmetic.multiply if node[0] == "*" else self.arithmetic.divide)(a, b))

    def on_power(self, node):
        base, exponent = self.evaluate(node[1]), self.evaluate(node[2])
        return Named(base.axes, self.arithmetic.power(base.data, float(exponent.data.value)))


SPELLED = {"+": "arithmetic", "-": "arithmetic", "*": "arithmetic", "/": "arithmetic", "^": "power"}
SPELLED.update({sign: "compare" for sign in ("<", "<=", ">", ">=", "==", "!=")})


def stored(value, axes, sizes, kind, arithmetic):
    """A value laid out along the axes of its array, rounded to its type."""
    if isinstance(value.data, Condition):
        ordered = value.over(sorted(axes))
        shape = [sizes[axis] for axis in sorted(axes)]
        turn = [sorted(axes).index(axis) for axis in axes]
        return Condition(*(np.transpose(np.broadcast_to(part, shape), turn) for part in (ordered.value, ordered.unsure)))
    names = sorted(axes)
    data = value.over(names)
    shape = [sizes[axis] for axis in names]
    turn = [names.index(axis) for axis in axes]
    data = Ranged(*(np.transpose(np.broadcast_to(part, shape), turn) for part in (data.value, data.radius)))
    return arithmetic.cast(data, kind)


def working_format(kind):
    """In which format the expression of a statement is computed."""
    return "f64" if kind == "f64" or kind == "i32" else "f32"


def evaluate(diagram, sizes, inputs):
    """All arrays of a diagram: name -> (axes, Ranged or Condition). Inputs are values of their types."""
    arrays = {}
    for name, (kind, axes) in diagram.inputs.items():
        data = inputs[name]
        arrays[name] = (axes, Condition(data.astype(bool), np.zeros(data.shape, bool)) if kind == "bool" else exact(data))
    for statement in diagram.statements:
        evaluator = Evaluator(sizes, arrays, working_format(statement.type), diagram.defs)
        value = evaluator.evaluate(statement.value)
        with np.errstate(all="ignore"):
            arrays[statement.name] = (statement.axes, stored(value, statement.axes, sizes, statement.type, evaluator.arithmetic))
    return arrays
