"""The columns of a kernel and the loops around them, as `--print nest` has them, and which wires each of them varies with.

Of what that prints nothing about memory is taken but the format of a column, and of one that carries several wires their
order: where tiles are loaded, how long they are and when they go is told elsewhere.
"""
import itertools
import re
from dataclasses import dataclass, field

REDUCTIONS = ("sum", "max", "min", "prod")
TOKEN = re.compile(r"[A-Za-z_]\w*'*\[|[A-Za-z_]\w*'*|[\[\]()]|[^\sA-Za-z_\[\]()]+|\s+")


@dataclass
class Label:
    kind: str  # group or stream
    wire: str
    size: int
    level: int  # 1 is the first below the outermost


@dataclass(eq=False)
class Loop:
    label: Label  # None around all
    parent: object = None
    items: list = field(default_factory=list)

    def path(self):
        """The loops down to this one, outermost first."""
        return self.parent.path() + [self] if self.label else []

    def leaves(self):
        """All columns and saves inside, in the order of the text."""
        for item in self.items:
            yield from item.leaves() if isinstance(item, Loop) else [item]


@dataclass(frozen=True)
class Read:
    array: str
    indices: tuple  # texts over wires, one for every dimension
    reduced: bool  # within a reduction


@dataclass(eq=False)
class Column:
    """One assignment."""
    name: str
    text: str
    parent: Loop
    reads: list = field(default_factory=list)
    wires: set = field(default_factory=set)  # that the right side varies with, after its reductions


@dataclass(eq=False)
class Save:
    """An output on its way out."""
    name: str
    parent: Loop


class Nest:
    """All of one kernel: groups in front, a tree of loops and columns, formats and wires of arrays."""

    def __init__(self, text, levels, own_wires):
        """`own_wires`: of every array of the diagram."""
        self.own_wires = own_wires
        self.groups, self.columns, self.root = [], [], Loop(None)
        self.formats, self.shapes = {}, {}  # of what `hold` says
        self.number = {level: at for at, level in enumerate(levels)}
        self.names = {wire for wires in own_wires.values() for wire in wires}
        self.names |= set(re.findall(r"[A-Za-z_]\w*'+", text))
        for folded in re.findall(r"\b(?:%s)\[([^\]]*)\]\(" % "|".join(REDUCTIONS), text):
            self.names |= {one.strip() for one in folded.split(",")}
        open_loops = [(-1, self.root)]
        for line in text.rstrip().split("\n"):
            depth = len(line) - len(line.lstrip())
            while open_loops[-1][0] >= depth:
                open_loops.pop()
            self.read_line(line.strip(), open_loops, depth)
        drop_empty(self.root)
        self.computed = {column.name for column in self.columns}
        self.find_wires()

    def read_line(self, line, open_loops, depth):
        words, parent = line.split(), open_loops[-1][1]
        if words[0] in ("group", "stream") and words[3:4] == ["at"]:
            label = Label(words[0], words[1], int(words[2]), self.number[words[4].rstrip(",")])
            self.names.add(label.wire)
            if label.kind == "group":
                self.groups.append(label)
            else:
                open_loops.append((depth, Loop(label, parent)))
                parent.items.append(open_loops[-1][1])
        elif words[0] == "hold":
            shape = re.match(r"hold (\S+) (\w+)\[(.*)\] at ", line)
            self.formats[shape[1]] = shape[2]
            self.shapes[shape[1]] = [int(length) for length in shape[3].split(",")] if shape[3] else []
        elif words[0] == "save":
            if words[3] in self.own_wires:  # at the end of its way
                parent.items.append(Save(words[3], parent))
        elif words[1:2] == ["="]:
            self.columns.append(Column(words[0], line.split(" = ", 1)[1], parent))
            parent.items.append(self.columns[-1])
        elif words[0] not in ("load", "pass", "skip"):
            raise ValueError("a line of a nest that is not known: " + line)

    # Wires

    def find_wires(self):
        """The wires of every column, from what it reads, until nothing new is found."""
        self.of_array = {name: list(wires) for name, wires in self.own_wires.items()}
        for column in self.columns:
            self.of_array.setdefault(column.name, [])
        moved = True
        while moved:
            moved = False
            for column in self.columns:
                column.reads, column.wires = [], set()
                self.visit(column, TOKEN.findall(column.text), set(), False)
                new = sorted(column.wires - set(self.of_array[column.name]))
                if new and column.name not in self.own_wires:
                    self.of_array[column.name] += new
                    moved = True

    def unknown(self):
        """Whether some column varies with wires of which its text says nothing, as a 0 in place of what cancels."""
        return any(len(self.shapes[column.name]) != len(self.of_array[column.name]) for column in self.columns)

    def visit(self, column, tokens, bound, reduced):
        """Collects reads and wires of an expression; `bound`: wires that reductions around it fold."""
        at = 0
        while at < len(tokens):
            token, at = tokens[at], at + 1
            if token.endswith("[") and len(token) > 1:
                end = closing(tokens, at, "[", "]")
                inside, at = [one.strip() for one in "".join(tokens[at:end]).split(",")], end + 1
                if token[:-1] in REDUCTIONS:
                    end = closing(tokens, at + 1, "(", ")")
                    self.visit(column, tokens[at + 1:end], bound | set(inside), True)
                    at = end + 1
                else:
                    self.note(column, Read(token[:-1], tuple(inside), reduced), bound)
            elif token == "size":
                at = closing(tokens, at + 1, "(", ")") + 1
            elif token in self.of_array:
                self.note(column, Read(token, tuple(self.of_array[token]), reduced), bound)
            elif token in self.names:
                column.wires |= {token} - bound

    def note(self, column, read, bound):
        column.reads.append(read)
        column.wires |= self.wires_of(read.indices) - bound

    def wires_of(self, indices):
        return {token for index in indices for token in TOKEN.findall(index) if token in self.names}

    def order(self, name, lengths):
        """The wires of an array that is computed, in the order in which their lengths stand in its shape, and whether
        there is only one."""
        wires = self.of_array[name]
        if name in self.own_wires or len(wires) < 2:
            return tuple(wires), True
        fitting = [o for o in itertools.permutations(wires) if [lengths[wire] for wire in o] == self.shapes[name]]
        if not fitting:
            raise ValueError("%s has the shape %s, where %s is right" % (name, self.shapes[name], lengths))
        return fitting[0], len(fitting) == 1


def drop_empty(loop):
    """Takes away loops in which nothing is computed."""
    loop.items = [item for item in loop.items if not isinstance(item, Loop) or drop_empty(item)]
    return bool(loop.items)


def closing(tokens, at, opened, closed):
    """Where the bracket closes that was opened in front of `at`."""
    depth = 1
    while True:
        depth += tokens[at].endswith(opened) - (tokens[at] == closed)
        if depth == 0:
            return at
        at += 1
