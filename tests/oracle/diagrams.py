"""Random diagrams: windows, divided indices, masks, casts, several wires of an axis, several outputs, axes of size 1."""
from language import Diagram, Statement, children, walk

# What is left out of random diagrams, by name, because it is known to be wrong and not yet mended: name -> reason.
# An empty table means that nothing is left out. `--with NAME` switches one on again.
LEFT_OUT = {
    "guarded norm": "M * sqrt(sum((A / M)^2)) with an A that is an exponential gives nan where it underflows",
    "powers of layernorm": "fourth moments of numbers of 1e-12 are below f32, where plain evaluation is not",
    "infinities": "results that are infinite are not compared: sums of exponentials of infinity give nan",
}

NUMBERS = [("number", v) for v in (2.0, 0.5, 3.0, 1.5, 0.25)]


def allows(name, features):
    return name not in LEFT_OUT or name in features


def number(value):
    return ("number", float(value))


class Maker:
    """Makes one diagram from a generator of random numbers."""

    def __init__(self, random, wide, features=()):
        self.random, self.wide, self.features = random, wide, set(features)
        self.d = Diagram()
        self.count = 0
        self.windows, self.divided, self.padded = {}, {}, {}  # derived axis -> what it is made of

    def chance(self, share):
        return self.random.random() < share

    def allows(self, name):
        return allows(name, self.features)

    def diagram(self):
        self.make_axes()
        if self.chance(0.12):
            self.make_scaled()
        for _ in range(self.random.choice([1, 1, 2, 2, 3, 4])):
            self.make_statement()
        self.choose_outputs()
        return self.d

    def make_axes(self):
        longest = self.random.choice([6, 12, 20, 30])
        for name in self.random.sample("qxdh", self.random.choice([1, 2, 2, 3, 3])):
            self.d.axes[name] = number(1 if self.chance(0.12) else self.random.randint(2, longest))
        axes = list(self.d.axes)
        if self.chance(0.3):
            self.make_window(self.random.choice(axes))
        if self.chance(0.25):
            self.make_divided(self.random.choice(axes))
        self.plain = [axis for axis in self.d.axes if axis not in self.windows and axis not in self.divided]

    def make_window(self, axis):
        """y = s * axis + w, read as s * axis + w."""
        step = self.random.choice([1, 1, 2, 3])
        self.d.axes["w"] = number(self.random.choice([1, 2, 3, 4]))
        moved = ("position", axis) if step == 1 else ("*", number(step), ("position", axis))
        last = ("+", moved, ("position", "w")) if step == 1 else ("+", moved, ("-", ("position", "w"), number(0)))
        self.d.axes["y"] = last
        self.windows["y"] = ("+", moved, ("position", "w"))

    def make_divided(self, axis):
        """b = axis / n, rounded up, read as axis / n."""
        n, shift = self.random.choice([2, 3, 4, 5]), self.random.choice([0, 0, 1])
        self.d.axes["b"] = ("/", ("+", ("position", axis), number(n - 1 + shift)), number(n))
        inside = ("+", ("position", axis), number(shift)) if shift else ("position", axis)
        self.divided["b"] = ("/", inside, number(n))

    # Arrays and their indices

    def input_type(self):
        if self.wide:
            return "f64"
        return self.random.choice(["f32"] * 6 + ["f16", "bf16", "f8e4m3", "f8e5m2", "i8"])

    def access(self, scope, condition=False):
        """An array, an input or a statement above, read within axes."""
        known = [s for s in self.d.statements if s.type != "bool" and all(a in scope for a in s.axes)]
        if known and not condition and self.chance(0.35):
            chosen = self.random.choice(known)
            return ("read", chosen.name, [("position", axis) for axis in chosen.axes])
        fitting = [(name, kind, axes) for name, (kind, axes) in self.d.inputs.items()
                   if (kind == "bool") == condition and all(self.index_of(axis, scope, False) for axis in axes)]
        if fitting and self.chance(0.45):
            name, _, axes = self.random.choice(fitting)
        else:
            name, axes = self.new_input(scope, condition)
        return ("read", name, [self.index_of(axis, scope, True) for axis in axes])

    def new_input(self, scope, condition):
        name = "ABCEFGKLMNUVWXYZ"[len(self.d.inputs)] if len(self.d.inputs) < 16 else "A%d" % len(self.d.inputs)
        candidates = [axis for axis in self.d.axes if self.index_of(axis, scope, False)]
        axes = self.random.sample(candidates, min(len(candidates), self.random.choice([1, 1, 2, 2, 3]))) if candidates else []
        self.d.inputs[name] = ("bool" if condition else self.input_type(), axes)
        return name, axes

    def index_of(self, axis, scope, varied):
        """An index that stays within the axis, or None where the scope has none."""
        inside = self.windows.get(axis) or self.divided.get(axis)
        if inside:
            found = [node[1] for node in walk(inside) if node[0] == "position"]
            return inside if all(one in scope for one in found) else None
        if axis in scope:
            if varied and self.chance(0.04):
                return ("-", ("-", ("size", axis), number(1)), ("position", axis))
            return number(0) if varied and self.chance(0.02) else ("position", axis)
        return None

    # Expressions

    def term(self, scope, depth):
        """A number that varies within axes."""
        roll = self.random.random()
        if depth <= 0 or roll < 0.3:
            return self.access(scope)
        if roll < 0.46:
            return ("*", self.access(scope), self.term(scope, depth - 1))
        if roll < 0.56:
            sign = self.random.choice("+-")
            return (sign, self.term(scope, depth - 1), self.random.choice([self.access(scope), self.random.choice(NUMBERS)]))
        if roll < 0.63:
            return (self.random.choice("*/"), self.term(scope, depth - 1), self.random.choice(NUMBERS))
        if roll < 0.74:
            return self.masked(scope, depth - 1)
        if roll < 0.84:
            return self.pointwise(self.term(scope, depth - 1))
        if roll < 0.97:
            return self.of_axis(scope, depth - 1)
        if roll < 0.985:
            return ("cast", self.random.choice(["f16", "bf16"]), self.term(scope, depth - 1))
        return ("position", self.random.choice(scope)) if scope else self.random.choice(NUMBERS)

    def masked(self, scope, depth):
        other = self.random.choice([number(0), number(0), ("negate", number(float("inf"))), self.random.choice(NUMBERS)])
        return ("where", self.condition(scope, 2), self.term(scope, depth), other)

    def condition(self, scope, depth):
        roll = self.random.random()
        if depth > 0 and roll < 0.2:
            return (self.random.choice(["and", "or"]), self.condition(scope, depth - 1), self.condition(scope, depth - 1))
        if depth > 0 and roll < 0.27:
            return ("not", self.condition(scope, depth - 1))
        if roll < 0.42 or not scope:
            return self.access(scope, condition=True) if roll < 0.35 else (
                self.random.choice(["<", ">", ">=", "<="]), self.access(scope), self.random.choice(NUMBERS + [number(0)]))
        left = ("position", self.random.choice(scope))
        right = ("position", self.random.choice(scope)) if self.chance(0.75) else number(self.random.randint(0, 8))
        if self.chance(0.25):
            by = number(self.random.choice([2, 3, 4]))
            left, right = ("/", left, by), ("/", right, by)
        elif self.chance(0.35):
            right = (self.random.choice("+-"), right, number(self.random.randint(1, 4)))
        return (self.random.choice(["<=", "<=", "<", ">=", ">", "==", "!="]), left, right)

    def pointwise(self, inside):
        roll = self.random.random()
        if roll < 0.5:
            return ("call", self.random.choice(["abs", "relu", "tanh", "sigmoid", "erf", "abs"]), [inside])
        if roll < 0.6:
            return ("call", "exp", [("negate", ("call", "abs", [inside]))])
        if roll < 0.7:
            return ("call", self.random.choice(["sqrt", "log", "log2", "rsqrt"]), [("+", ("call", "abs", [inside]), number(1))])
        if roll < 0.78:
            return ("^", inside, number(self.random.choice([2, 2, 3])))
        if roll < 0.88:
            return ("def", self.random.choice(["silu", "gelu", "softplus", "relu6", "gelu_tanh"]), [], [inside])
        return ("call", self.random.choice(["max", "min"]), [inside, self.random.choice(NUMBERS + [number(0)])])

    def of_axis(self, scope, depth):
        """A pattern over one axis of the scope, or of one that it binds."""
        inner = [axis for axis in self.plain if axis not in scope]
        if inner and self.chance(0.35) or not scope:
            return self.fold(scope, depth)
        axis = self.random.choice(scope)
        own = self.term(scope, depth)
        pattern = self.random.choice(["softmax", "softmax", "layernorm", "rmsnorm", "l2norm", "logsoftmax", "minus mean",
                                      "over greatest", "minus greatest", "minus"])
        if pattern == "minus mean":
            return ("-", own, ("def", "mean", [axis], [own]))
        if pattern == "over greatest":
            return ("/", own, ("+", ("reduce", "max", [axis], ("call", "abs", [own])), number(1)))
        if pattern == "minus greatest":
            return ("call", "exp", [("-", own, ("reduce", "max", [axis], own))])
        if pattern == "minus":
            return (self.random.choice("+-*"), own, ("reduce", self.random.choice(["sum", "max", "min"]), [axis], self.term(scope, depth)))
        return ("def", pattern, [axis], [own])

    def statistic(self, axis, scope, depth):
        """What people compute along an axis, over values that vary with it."""
        a, b = self.term(scope + [axis], depth), self.access(scope + [axis])
        greatest = ("reduce", "max", [axis], ("call", "abs", [a]))
        away = ("-", a, ("def", "mean", [axis], [a]))
        share = ("def", "softmax", [axis], [b])
        total = lambda inside: ("reduce", "sum", [axis], inside)
        patterns = [
            ("covariance", lambda: ("/", total(("*", away, ("-", b, ("def", "mean", [axis], [b])))), ("size", axis))),
            ("weighted variance", lambda: total(("*", share, ("^", ("-", a, total(("*", share, a))), number(2))))),
            ("", lambda: ("negate", total(("*", share, ("def", "logsoftmax", [axis], [b]))))),
            ("guarded norm", lambda: ("*", greatest, ("call", "sqrt", [total(("^", ("/", a, greatest), number(2)))]))),
            ("", lambda: total(("where", ("==", b, ("reduce", "max", [axis], b)), a, number(0)))),
            ("", lambda: ("*", total(("*", ("cast", "i8", ("*", ("/", a, greatest), number(127))), b)), ("/", greatest, number(127)))),
            ("", lambda: total(("*", ("cast", self.random.choice(["f16", "bf16", "f8e4m3"]), share), a))),
            ("", lambda: total(("*", ("cast", "f16", ("def", self.random.choice(["rmsnorm", "l2norm"]), [axis], [a])), b))),
            ("powers of layernorm", lambda: ("def", "mean", [axis], [("^", ("def", "layernorm", [axis], [a]), number(self.random.choice([3, 4])))])),
            ("", lambda: ("reduce", self.random.choice(["max", "min", "max"]), [axis], away)),
            ("", lambda: ("reduce", "prod", [axis], ("/", a, ("call", "sqrt", [("def", "mean", [axis], [("^", a, number(2))])])))),
            ("", lambda: ("/", total(("*", b, ("call", "exp", [a]))), total(("call", "exp", [a])))),
            # What is guarded is no number where the guard leaves it out.
            ("", lambda: total(("where", (">", a, number(0)), ("*", share, ("call", self.random.choice(["log", "rsqrt"]), [a])), number(0)))),
            ("", lambda: total(("where", ("!=", b, number(0)), ("/", share, b), number(0)))),
        ]
        return self.random.choice([make for name, make in patterns if self.allows(name)])()

    def fold(self, scope, depth):
        """A reduction over one or two axes that are not in the scope."""
        free = [axis for axis in self.d.axes if axis not in scope and axis in self.plain]
        if not free:
            return self.access(scope)
        bound = self.random.sample(free, min(len(free), self.random.choice([1, 1, 1, 2])))
        if self.chance(0.22) and bound[0] in self.plain:
            return self.statistic(bound[0], scope, depth - 2)
        within = scope + bound
        if self.chance(0.06):  # the same at all positions of some of the axes, or of all
            within = self.random.sample(within, self.random.randint(0, len(within) - 1))
        inside = self.term(within, depth) if within else self.random.choice(NUMBERS)
        roll = self.random.random()
        if roll < 0.12 and bound[0] in self.plain:
            return ("def", self.random.choice(["mean", "var", "logsumexp"]), bound, [inside])
        kind = self.random.choice(["sum"] * 7 + ["max", "max", "min", "prod"])
        if kind == "prod":
            inside = ("+", number(1), ("/", ("call", "tanh", [inside]), number(4)))
        return ("reduce", kind, bound, inside)

    # Statements

    def make_scaled(self):
        """Sums of products of matrices with a scale for each block of what is summed."""
        rows, columns, summed = "mjk"
        blocks, by = self.random.randint(1, 4), self.random.choice([2, 3, 4, 6])
        whole = number(blocks * by * self.random.choice([1, 2]) + (self.random.randint(0, 1) if self.chance(0.1) else 0))
        self.d.axes.update({rows: number(self.random.randint(1, 9)), columns: number(self.random.randint(1, 9)), summed: whole})
        self.plain += [rows, columns, summed]
        narrow = ["f16", "f16", "f8e4m3", "f8e5m2", "f32"]
        at = lambda *axes: [("position", axis) for axis in axes]
        left, right = ("read", "Aa", at(rows, summed)), ("read", "Ab", at(columns, summed))
        for name, axis in (("Aa", rows), ("Ab", columns)):
            self.d.inputs[name] = ("f64" if self.wide else self.random.choice(narrow), [axis, summed])
        for name in self.random.choice(["P", "P", "PQ"]):
            factors = [self.scale(name + str(place), by * self.random.choice([1, 1, 2]),
                                  self.random.choice([[], [rows], [columns]]), summed) for place in range(self.random.choice([1, 1, 2]))]
            value = ("*", left, right) if self.chance(0.7) else ("*", left, factors.pop(0))
            if value[2] is not right:
                value = ("*", value, right)
            for factor in factors:
                value = (self.random.choice("**/"), value, factor)
            self.count += 1
            self.d.statements.append(Statement(name, "f64" if self.wide else "f32", [rows, columns], ("reduce", "sum", [summed], value)))

    def scale(self, name, by, beside, summed):
        """A factor that is constant on blocks, read at their number; never zero."""
        axis, name = "b" + name.lower(), "A" + name.lower()
        self.d.axes[axis] = ("/", ("+", ("position", summed), number(by - 1)), number(by))
        self.d.inputs[name] = ("f64" if self.wide else "f32", beside + [axis])
        read = ("read", name, [("position", one) for one in beside] + [("/", ("position", summed), number(by))])
        return ("+", number(1), ("call", "abs", [read]))

    def make_statement(self):
        axes = [axis for axis in self.plain]
        kept = self.random.sample(axes, min(len(axes), self.random.choice([0, 1, 1, 1, 2, 2])))
        if len(kept) == len(axes) and self.chance(0.7):
            kept = kept[:-1]
        value = self.fold(kept, self.random.choice([1, 2, 2, 3])) if self.chance(0.8) else self.term(kept, 2)
        if self.chance(0.2):
            value = (self.random.choice("+-*"), value, self.fold(kept, 1))
        if self.chance(0.15):
            value = self.pointwise(value)
        kind = "f64" if self.wide else self.random.choice(["f32"] * 8 + ["f16", "bf16"])
        self.count += 1
        self.d.statements.append(Statement("PQRSTHI"[self.count - 1], kind, kept, value))

    def choose_outputs(self):
        read = {node[1] for s in self.d.statements for node in walk(s.value) if node[0] == "read"}
        self.d.outputs = [s.name for s in self.d.statements if s.name not in read or self.chance(0.3)]
        drop_unused(self.d)


def drop_unused(d):
    """Leaves out inputs and axes that nothing uses."""
    nodes = [node for s in d.statements for node in walk(s.value)]
    read = {node[1] for node in nodes if node[0] == "read"}
    d.inputs = {name: given for name, given in d.inputs.items() if name in read}
    used = {axis for s in d.statements for axis in s.axes} | {axis for _, axes in d.inputs.values() for axis in axes}
    used |= {node[1] for node in nodes if node[0] in ("position", "size")}
    used |= {axis for node in nodes if node[0] in ("reduce", "def") for axis in node[2]}
    for name in reversed(list(d.axes)):
        if name in used:
            used |= {node[1] for node in walk(d.axes[name]) if node[0] == "position"}
    d.axes = {name: size for name, size in d.axes.items() if name in used}


def make(random, features=()):
    return Maker(random, random.random() < 0.3, features).diagram()
