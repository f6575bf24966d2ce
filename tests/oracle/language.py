"""The diagram language, read from docs/language.md alone: text to statements and back.

An expression is a tuple whose first entry says what it is:

    ("number", 2.0)  ("position", "x")  ("size", "x")  ("read", "A", [index, ..])  ("name", "A")
    ("where", c, a, b)  ("cast", "f16", e)  ("call", "exp", [e, ..])  ("reduce", "sum", ["x"], e)
    ("def", "softmax", ["x"], [e, ..])  ("negate", e)  ("not", e)  ("and" | "or" | "<" | "+" | "^" | .., a, b)

("name", "A") is an array without its indices, as the programs of `napkin derive` write it.
"""
import math
import re
from dataclasses import dataclass, field

TYPES = ("f64", "f32", "f16", "bf16", "tf32", "f8e4m3", "f8e5m2", "f8e8m0", "f4e2m1", "i8", "i4", "i32", "bool")
REDUCTIONS = ("sum", "max", "min", "prod")
POINTWISE = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "sigmoid", "erf", "abs", "relu", "max", "min")
# The prelude, from the descriptions in docs/language.md.
PRELUDE = """
def softmax[a](s) = exp(s - max[a](s)) / sum[a](exp(s - max[a](s)))
def logsumexp[a](s) = log(sum[a](exp(s)))
def logsoftmax[a](s) = s - logsumexp[a](s)
def mean[a](s) = sum[a](s) / size(a)
def var[a](s) = mean[a]((s - mean[a](s)) ^ 2)
def layernorm[a](s) = (s - mean[a](s)) / sqrt(var[a](s) + 1e-5)
def rmsnorm[a](s) = s / sqrt(mean[a](s ^ 2) + 1e-5)
def l2norm[a](s) = s / sqrt(sum[a](s ^ 2))
def gelu(s) = s / 2 * (1 + erf(s / sqrt(2)))
def gelu_tanh(s) = s / 2 * (1 + tanh(sqrt(2 / 3.141592653589793) * (s + 0.044715 * s ^ 3)))
def silu(s) = s * sigmoid(s)
def relu6(s) = min(relu(s), 6)
def leaky_relu(s, slope) = where(s > 0, s, slope * s)
def softplus(s) = relu(s) + log(1 + exp(-abs(s)))
def softcap(s, cap) = cap * tanh(s / cap)
"""
TOKEN = re.compile(r"[ \t\r]*(?:(#[^\n]*)|(\n|;)|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*'*)"
                   r"|(<=|>=|==|!=|[-+*/^()\[\],:=<>{}]))")


@dataclass
class Statement:
    name: str
    type: str
    axes: list
    value: tuple


@dataclass
class Diagram:
    name: str = "d"
    axes: dict = field(default_factory=dict)  # name -> the expression of its size, or None
    inputs: dict = field(default_factory=dict)  # name -> (type, axes)
    statements: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    defs: dict = field(default_factory=dict)  # name -> (axes, parameters, body)

    def statement(self, name):
        return next((s for s in self.statements if s.name == name), None)


def tokens_of(text):
    """The kinds and texts of all tokens; what ends a declaration is ('end', ..) and is left out inside brackets."""
    found, at, depth = [], 0, 0
    text = text.lstrip("\ufeff") + "\n"
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match or match.end() == at:
            if not text[at:].strip():
                break
            raise SyntaxError("cannot read " + repr(text[at:at + 20]))
        at = match.end()
        comment, end, number, name, sign = match.groups()
        if end and depth == 0:
            found.append(("end", end))
        elif number:
            found.append(("number", number))
        elif name:
            found.append(("name", name))
        elif sign:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0)
            found.append(("sign", sign))
    return found + [("end", "\n")]


class Reader:
    """Reads declarations and expressions from tokens, from the loosest operators to the tightest."""

    def __init__(self, text, axes=(), names=None):
        self.tokens, self.at = tokens_of(text), 0
        self.axes, self.names, self.parameters = set(axes), names, set()

    def peek(self, *texts):
        return self.tokens[self.at][1] in texts

    def take(self, *texts):
        """The next token, if it is one of these texts."""
        if self.peek(*texts):
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def need(self, text):
        if not self.take(text):
            raise SyntaxError("expected %r, found %r" % (text, self.tokens[self.at][1]))

    def word(self):
        kind, text = self.tokens[self.at]
        if kind != "name":
            raise SyntaxError("expected a name, found %r" % text)
        self.at += 1
        return text

    def list_of(self, one, close):
        items = []
        while not self.take(close):
            items.append(one())
            if not self.take(",") and not self.peek(close):
                raise SyntaxError("expected `,` or %r, found %r" % (close, self.tokens[self.at][1]))
        return items

    def expression(self):
        return self.chain(("or",), lambda: self.chain(("and",), self.negation))

    def chain(self, signs, below):
        left = below()
        while True:
            sign = self.take(*signs)
            if not sign:
                return left
            left = (sign, left, below())

    def negation(self):
        if self.take("not"):
            return ("not", self.negation())
        left = self.sum()
        sign = self.take("<", "<=", ">", ">=", "==", "!=")
        return (sign, left, self.sum()) if sign else left

    def sum(self):
        return self.chain(("+", "-"), self.product)

    def product(self):
        return self.chain(("*", "/"), self.unary)

    def unary(self):
        if self.take("-"):
            return ("negate", self.unary())
        base = self.leaf()
        return ("^", base, self.unary()) if self.take("^") else base

    def leaf(self):
        kind, text = self.tokens[self.at]
        if self.take("("):
            inside = self.expression()
            self.need(")")
            return inside
        if kind == "number":
            self.at += 1
            return ("number", float(text))
        return self.named(self.word())

    def named(self, name):
        if name == "inf":
            return ("number", math.inf)
        if name == "size" and self.take("("):
            axis = self.word()
            self.need(")")
            return ("size", axis)
        if name == "where" or (name in TYPES and self.peek("(")):
            self.need("(")
            parts = self.list_of(self.expression, ")")
            return ("where", *parts) if name == "where" else ("cast", name, parts[0])
        own_def = self.names is not None and name in self.names
        if self.take("["):
            return self.bracketed(name, own_def)
        if self.take("("):
            arguments = self.list_of(self.expression, ")")
            return ("call", name, arguments) if name in POINTWISE and not own_def else ("def", name, [], arguments)
        return ("position", name) if name in self.axes and name not in self.parameters else ("name", name)

    def bracketed(self, name, own_def):
        inside = self.list_of(self.expression, "]")
        if not self.take("("):
            return ("read", name, inside)
        axes = [axis for _, axis in inside]
        arguments = self.list_of(self.expression, ")")
        if name in REDUCTIONS and not own_def:
            return ("reduce", name, axes, arguments[0])
        return ("def", name, axes, arguments)


def parse(text):
    """A whole file. Partitions are passed over: oracles write their own."""
    reader = Reader(text)
    reader.names = set()
    diagram = Diagram()
    while reader.at < len(reader.tokens):
        if reader.tokens[reader.at][0] == "end":
            reader.at += 1
            continue
        declaration(reader, diagram)
    return diagram


def declaration(reader, diagram):
    word = reader.word()
    if word == "diagram":
        diagram.name = reader.word()
    elif word == "axis":
        name = reader.word()
        diagram.axes[name] = reader.sum() if reader.take("=") else None
        reader.axes.add(name)
    elif word == "input":
        name = reader.word()
        reader.need(":")
        kind = reader.word()
        reader.need("[")
        diagram.inputs[name] = (kind, reader.list_of(reader.word, "]"))
        if reader.take("density"):
            reader.at += 1
    elif word == "output":
        diagram.outputs.append(reader.word())
    elif word == "def":
        read_def(reader, diagram.defs)
    else:
        kind = reader.word() if reader.take(":") else "f32"
        reader.need("[")
        axes = reader.list_of(reader.word, "]")
        reader.need("=")
        diagram.statements.append(Statement(word, kind, axes, reader.expression()))


def read_def(reader, defs):
    name, axes = reader.word(), []
    if reader.take("["):
        axes = reader.list_of(reader.word, "]")
    reader.need("(")
    parameters = reader.list_of(reader.word, ")")
    reader.need("=")
    outside, reader.axes = reader.axes, set(axes)
    defs[name] = (axes, parameters, reader.expression())
    reader.axes = outside
    if reader.names is not None:
        reader.names.add(name)


def prelude():
    reader, defs = Reader(PRELUDE), {}
    while reader.at < len(reader.tokens):
        if reader.tokens[reader.at][0] == "end":
            reader.at += 1
        else:
            reader.word()
            read_def(reader, defs)
    return defs


PRELUDE_DEFS = prelude()


def children(node):
    """The expressions right inside of one."""
    kind = node[0]
    if kind in ("number", "position", "size", "name"):
        return []
    if kind in ("read", "call"):
        return list(node[2])
    if kind == "cast":
        return [node[2]]
    if kind in ("reduce",):
        return [node[3]]
    if kind == "def":
        return list(node[3])
    return list(node[1:])


def rebuilt(node, parts):
    """The same expression with other ones right inside."""
    kind = node[0]
    if kind in ("number", "position", "size", "name"):
        return node
    if kind in ("read", "call"):
        return (kind, node[1], list(parts))
    if kind == "cast":
        return (kind, node[1], parts[0])
    if kind == "reduce":
        return (kind, node[1], node[2], parts[0])
    if kind == "def":
        return (kind, node[1], node[2], list(parts))
    return (kind, *parts)


def walk(node):
    yield node
    for child in children(node):
        yield from walk(child)


def expand(node, defs):
    """Bodies in place of calls, with axes and parameters replaced by what was passed."""
    node = rebuilt(node, [expand(child, defs) for child in children(node)])
    if node[0] != "def":
        return node
    axes, parameters, body = defs.get(node[1]) or PRELUDE_DEFS[node[1]]
    outside = defs if node[1] in defs else PRELUDE_DEFS
    # A def of one axis may be called over several.
    passed = {axes[0]: node[2]} if len(axes) == 1 else {axis: [to] for axis, to in zip(axes, node[2])}
    return substitute(expand(body, outside), passed, dict(zip(parameters, node[3])))


def substitute(node, axes, parameters):
    kind = node[0]
    if kind == "name" and node[1] in parameters:
        return parameters[node[1]]
    if kind == "position" and node[1] in axes:
        return ("position", axes[node[1]][0])
    if kind == "size" and node[1] in axes:
        product = ("size", axes[node[1]][0])
        for axis in axes[node[1]][1:]:
            product = ("*", product, ("size", axis))
        return product
    parts = [substitute(child, axes, parameters) for child in children(node)]
    if kind == "reduce":
        return (kind, node[1], [to for axis in node[2] for to in axes.get(axis, [axis])], parts[0])
    return rebuilt(node, parts)


def number_text(value):
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def text_of(node):
    """An expression as text, with a bracket around all that has one operator."""
    kind = node[0]
    if kind == "number":
        return number_text(node[1])
    if kind in ("position", "name"):
        return node[1]
    if kind == "size":
        return "size(%s)" % node[1]
    inside = [text_of(child) for child in children(node)]
    if kind == "read":
        return "%s[%s]" % (node[1], ", ".join(bare(part) for part in inside))
    if kind == "where":
        return "where(%s)" % ", ".join(bare(part) for part in inside)
    if kind in ("cast", "call"):
        return "%s(%s)" % (node[1], ", ".join(bare(part) for part in inside))
    if kind in ("reduce", "def"):
        axes = "[%s]" % ", ".join(node[2]) if node[2] else ""
        return "%s%s(%s)" % (node[1], axes, ", ".join(bare(part) for part in inside))
    if kind in ("negate", "not"):
        return "(%s%s)" % ({"negate": "-", "not": "not "}[kind], inside[0])
    return "(%s %s %s)" % (inside[0], kind, inside[1])


def bare(text):
    """Without a bracket that is around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 else text
    return text


def print_diagram(diagram):
    """The file that says it."""
    lines = ["diagram " + diagram.name]
    for name, size in diagram.axes.items():
        lines.append("axis %s = %s" % (name, bare(text_of(size))) if size else "axis " + name)
    for name, (kind, axes) in diagram.inputs.items():
        lines.append("input %s: %s[%s]" % (name, kind, ", ".join(axes)))
    for s in diagram.statements:
        kind = "" if s.type == "f32" else ": " + s.type
        lines.append("%s%s[%s] = %s" % (s.name, kind, ", ".join(s.axes), bare(text_of(s.value))))
    lines += ["output " + name for name in diagram.outputs]
    return "\n".join(lines) + "\n"
