"""Which uses of an axis are one wire (docs/language.md, Wires): those that meet where an array is read by its own axis."""
from language import Statement, children, expand, rebuilt, text_of


def axes_in(node):
    """Axes whose positions or sizes an expression reads, those of its own reductions among them."""
    own = {node[1]} if node[0] in ("position", "size") else set()
    return own.union(*(axes_in(child) for child in children(node)))


class Wires:
    """Every use of an axis, joined with those that it meets, and named in order of appearance: d, d', .."""

    def __init__(self, diagram):
        self.parent, self.order = {}, []
        self.statements = []
        for name, (_, axes) in diagram.inputs.items():
            for axis in axes:
                self.parent[("array", name, axis)] = ("array", name, axis)
        for s in diagram.statements:
            for axis in s.axes:
                self.appear(("array", s.name, axis))
            value = expand(s.value, diagram.defs)
            self.visit(value, s, {axis: ("array", s.name, axis) for axis in s.axes}, diagram)
            self.statements.append(Statement(s.name, s.type, s.axes, value))
        while self.join_alike():
            pass
        self.names = self.name_all()

    def appear(self, use):
        self.parent.setdefault(use, use)
        self.order.append(use)

    def root(self, use):
        while self.parent[use] != use:
            use = self.parent[use]
        return use

    def join(self, a, b):
        self.parent[self.root(a)] = self.root(b)

    def visit(self, node, statement, scope, diagram):
        if node[0] == "reduce":
            bound = self.bound(node, statement, scope)
            for use in bound.values():
                self.appear(use)
            scope = dict(scope, **bound)
        if node[0] == "read":
            own = diagram.inputs[node[1]][1] if node[1] in diagram.inputs else diagram.statement(node[1]).axes
            for axis, index in zip(own, node[2]):
                if index == ("position", axis):
                    self.join(("array", node[1], axis), scope[axis])
        for child in children(node):
            self.visit(child, statement, scope, diagram)

    @staticmethod
    def bound(node, statement, scope):
        """The uses that a reduction makes, told by its text and by what the axes around it stand for there."""
        around = tuple(sorted((axis, scope[axis]) for axis in axes_in(node[3]) if axis in scope and axis not in node[2]))
        return {axis: ("bound", statement.name, text_of(node), around, axis) for axis in node[2]}

    def join_alike(self):
        """A reduction that one statement says twice is the same reduction if the axes around it are the same wires."""
        first, joined = {}, False
        for use in self.order:
            if use[0] != "bound":
                continue
            around = tuple((axis, self.root(other)) for axis, other in use[3])
            other = first.setdefault((use[1], use[2], around, use[4]), use)
            if self.root(other) != self.root(use):
                self.join(use, other)
                joined = True
        return joined

    def name_all(self):
        names, used = {}, {}
        for use in self.order:
            root = self.root(use)
            if root not in names:
                axis = use[-1]
                names[root] = axis + "'" * used.get(axis, 0)
                used[axis] = used.get(axis, 0) + 1
        return names

    def of_array(self, name, axes):
        """The wires of an array's own axes; those that nothing meets keep the axis's name."""
        return [self.names.get(self.root(("array", name, axis)), axis + "?") for axis in axes]

    def statement_of_wires(self, statement):
        """A statement whose expression and left side name wires, with every `def` expanded."""
        scope = {axis: ("array", statement.name, axis) for axis in statement.axes}
        value = self.renamed(statement.value, statement, scope)
        return Statement(statement.name, statement.type, [self.named(scope[axis]) for axis in statement.axes], value)

    def named(self, use):
        return self.names[self.root(use)]

    def renamed(self, node, statement, scope):
        kind = node[0]
        if kind in ("position", "size"):
            return (kind, self.named(scope[node[1]]) if node[1] in scope else node[1])
        if kind == "reduce":
            bound = self.bound(node, statement, scope)
            inside = self.renamed(node[3], statement, dict(scope, **bound))
            return (kind, node[1], [self.named(bound[axis]) for axis in node[2]], inside)
        return rebuilt(node, [self.renamed(child, statement, scope) for child in children(node)])
