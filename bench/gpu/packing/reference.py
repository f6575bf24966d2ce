"""A diagram as plain loops in double, printed as C++ that runs on a device, where nvcc compiles it, and on a host.

Every reduction and every statement is a stage: an array of doubles over its free axes, each entry computed by itself.
One axis, the row axis, may be cut: a call evaluates its positions from `begin` to `end` alone.
"""
from language import expand, walk

TYPES = ("f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i32", "bool", "f8e8m0", "f4e2m1",
         "i4")
FOLDS = {"sum": ("0.0", "{0} += {1}"), "prod": ("1.0", "{0} *= {1}"),
         "max": ("-INFINITY", "{0} = napkin_larger({0}, {1})"), "min": ("INFINITY", "{0} = napkin_smaller({0}, {1})")}
FUNCTIONS = {"exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "sqrt": "sqrt", "rsqrt": "1 / sqrt",
             "tanh": "tanh", "sigmoid": "napkin_sigmoid", "erf": "erf", "abs": "fabs"}


def free_axes(node):
    """Axes whose position an expression depends on."""
    if node[0] == "position":
        return {node[1]}
    if node[0] == "reduce":
        return free_axes(node[3]) - set(node[2])
    inside = [child for child in node[1:] if isinstance(child, tuple)]
    inside += [child for part in node[1:] if isinstance(part, list) for child in part if isinstance(child, tuple)]
    return set().union(*(free_axes(child) for child in inside)) if inside else set()


def expanded(diagram):
    return [(s, expand(s.value, diagram.defs)) for s in diagram.statements]


def row_axis(diagram, sizes):
    """An axis that every output has, that nothing reduces, and that no array is read along but at its own position: the
    longest of those that most arrays have."""
    statements = expanded(diagram)
    outputs = [s for s in diagram.statements if s.name in diagram.outputs]
    possible = [axis for axis in outputs[0].axes if all(axis in s.axes for s in outputs)]
    fits = [axis for axis in possible if all(cuts(diagram, value, axis) for _, value in statements)]
    most = lambda axis: (sum(axis in s.axes for s in diagram.statements), sizes[axis])
    return max(fits, key=most, default=None)


def cuts(diagram, value, axis):
    for node in walk(value):
        if node[0] == "reduce" and axis in node[2]:
            return False
        read = diagram.statement(node[1]) if node[0] == "read" else None
        if read and any(own == axis and index != ("position", axis) for own, index in zip(read.axes, node[2])):
            return False
    return True


class Printer:
    def __init__(self, diagram, sizes):
        self.diagram, self.row = diagram, row_axis(diagram, sizes)
        self.order = list(diagram.axes)
        self.inputs = list(diagram.inputs)
        self.stages, self.numbers, self.text = [], {}, []  # axes of each stage; its number by its key
        for statement, value in expanded(diagram):
            inside = self.value(value, statement)
            self.stage(statement.name, statement.axes, [], "round", f"napkin_round({inside}, type_{statement.type})")

    def stage(self, key, axes, bound, kind, value):
        """Adds a stage; the number of it."""
        number = self.numbers[key] = len(self.stages)
        self.stages.append(list(axes))
        lines = [f"struct Stage{number} {{", "  Sizes n;", "  Arrays a;",
                 "  EVERYWHERE void operator()(long long i) const {"]
        lines += [f"    {line}" for line in self.positions(axes)]
        if kind == "round":
            lines.append(f"    a.t[{number}][at] = {value};")
        else:
            begin, step = FOLDS[kind]
            loops = "".join(f"for (long long {axis}_ = 0; {axis}_ < n.{axis}; ++{axis}_) " for axis in bound)
            lines += [f"    double folded = {begin};", f"    {loops}{step.format('folded', value)};",
                      f"    a.t[{number}][at] = folded;"]
        self.text.append("\n".join(lines + ["  }", "};", ""]))
        return number

    def positions(self, axes):
        """The position along every axis, from the index of an entry."""
        yield "const long long at = i;"
        for axis in reversed(axes):
            begin = "n.begin + " if axis == self.row else ""
            yield f"const long long {axis}_ = {begin}i % {self.length(axis)}; i /= {self.length(axis)};"
        yield "(void)i;"

    def length(self, axis):
        return "(n.end - n.begin)" if axis == self.row else f"n.{axis}"

    def place(self, axes, indices, cut):
        """Where an entry of an array over these axes stands."""
        place = "0"
        for axis, index in zip(axes, indices):
            length = self.length(axis) if cut else f"n.{axis}"
            index = f"({index} - n.begin)" if cut and axis == self.row else index
            place = index if place == "0" else f"({place} * {length} + {index})"
        return place

    def index(self, node):
        """A whole position; a division rounds down."""
        kind = node[0]
        if kind == "number":
            return f"{int(node[1])}LL"
        if kind == "position":
            return f"{node[1]}_"
        if kind == "size":
            return f"n.{node[1]}"
        if kind == "negate":
            return f"(-{self.index(node[1])})"
        a, b = self.index(node[1]), self.index(node[2])
        return f"napkin_floor({a}, {b})" if kind == "/" else f"({a} {kind} {b})"

    def value(self, node, statement):
        return getattr(self, "on_" + SPELLED.get(node[0], node[0]))(node, lambda inside: self.value(inside, statement),
                                                                    statement)

    def on_number(self, node, value, statement):
        return "INFINITY" if node[1] == float("inf") else repr(float(node[1]))

    def on_position(self, node, value, statement):
        return f"(double){node[1]}_"

    def on_size(self, node, value, statement):
        return f"(double)n.{node[1]}"

    def on_read(self, node, value, statement):
        indices = [self.index(index) for index in node[2]]
        if node[1] in self.diagram.inputs:
            kind, axes = self.diagram.inputs[node[1]]
            return f"napkin_load(a.in[{self.inputs.index(node[1])}], {self.place(axes, indices, False)}, type_{kind})"
        axes = self.diagram.statement(node[1]).axes
        return f"a.t[{self.numbers[node[1]]}][{self.place(axes, indices, True)}]"

    def on_reduce(self, node, value, statement):
        free = free_axes(node)
        axes = [axis for axis in statement.axes if axis in free] + sorted(free - set(statement.axes),
                                                                          key=self.order.index)
        key = (statement.name, repr(node))
        if key not in self.numbers:
            self.stage(key, axes, node[2], node[1], value(node[3]))
        return f"a.t[{self.numbers[key]}][{self.place(axes, [axis + '_' for axis in axes], True)}]"

    def on_where(self, node, value, statement):
        return f"({value(node[1])} ? {value(node[2])} : {value(node[3])})"

    def on_cast(self, node, value, statement):
        return f"napkin_round({value(node[2])}, type_{node[1]})"

    def on_negate(self, node, value, statement):
        return f"(-{value(node[1])})"

    def on_not(self, node, value, statement):
        return f"(!{value(node[1])})"

    def on_call(self, node, value, statement):
        inside = [value(one) for one in node[2]]
        if node[1] == "relu":
            inside, name = inside + ["0.0"], "max"
        else:
            name = node[1]
        if name in ("max", "min"):
            return f"napkin_{'larger' if name == 'max' else 'smaller'}({inside[0]}, {inside[1]})"
        return f"({FUNCTIONS[name]}({inside[0]}))"

    def on_operator(self, node, value, statement):
        sign = {"and": "&&", "or": "||"}.get(node[0], node[0])
        return f"({value(node[1])} {sign} {value(node[2])})"

    def on_power(self, node, value, statement):
        if node[2] == ("number", 2.0):
            return f"napkin_square({value(node[1])})"
        return f"pow({value(node[1])}, {value(node[2])})"


SPELLED = {sign: "operator" for sign in ("+", "-", "*", "/", "and", "or", "<", "<=", ">", ">=", "==", "!=")}
SPELLED["^"] = "power"


def print_reference(diagram, sizes):
    """The source, and what a caller has to know: the row axis, the axes of stages, and outputs' stages."""
    printer = Printer(diagram, sizes)
    axes, count = list(diagram.axes), len(printer.stages)
    sizes = "".join(f"long long {axis}; " for axis in axes)
    taken = ", ".join(f"sizes[{i}]" for i in range(len(axes)))
    counts = [" * ".join(["1LL"] + [printer.length(axis) for axis in stage]) for stage in printer.stages]
    calls = "".join(f"  if (!error) error = napkin_each({length}, Stage{i}{{n, a}}, stream);\n"
                    for i, length in enumerate(counts))
    text = f"""// {diagram.name} in double, by plain loops. Printed by bench/gpu/pack from the diagram alone.
#include "formats.h"

namespace {{
struct Sizes {{ {sizes}long long begin, end; }};
struct Arrays {{ const void* in[{len(printer.inputs)}]; double* t[{count}]; }};
{"".join(printer.text)}}}  // namespace

extern "C" int {diagram.name}_reference(const long long* sizes, long long begin, long long end,
                         const void* const* inputs, double* const* stages, void* stream) {{
  const Sizes n = {{{taken}, begin, end}};
  Arrays a;
  for (int i = 0; i < {len(printer.inputs)}; ++i) a.in[i] = inputs[i];
  for (int i = 0; i < {count}; ++i) a.t[i] = stages[i];
  int error = 0;
{calls}  return error;
}}
"""
    return text, {"row_axis": printer.row, "axes": axes, "stages": printer.stages,
                  "outputs": [printer.numbers[name] for name in diagram.outputs]}
