"""Walks all groups of a kernel in the order of their turns, and says what a memory holds at its fullest instant.

What lives how long is taken from docs/theory.md (Memory, Turns) alone. The nest gives the columns and the loops around
them; which tiles they need, where those are loaded, how long they are and when they go is told here, and every column of
every group is an instant that is looked at.
"""
import itertools
import math
from dataclasses import dataclass, field

import nests
from nests import Column, Loop
from transfers import leaves

BYTES = {"f64": 8, "f32": 4, "tf32": 4, "i32": 4, "f16": 2, "bf16": 2, "f8e4m3": 1, "f8e5m2": 1, "i8": 1, "bool": 1}
MOST_INSTANTS = 30000


class TooLong(Exception):
    """A walk that would take longer than it is worth."""


@dataclass(eq=False)
class Buffer:
    """What a group of a level holds of one array, within one loop."""
    level: int
    place: Loop
    array: str
    indices: tuple
    values: int
    bytes: int
    depth: int  # loops down to the place


@dataclass
class Needed:
    """What is there while a column runs, or a save, and what the column may overwrite."""
    buffers: list = field(default_factory=list)
    made: Buffer = None
    operands: list = field(default_factory=list)


class Walk:
    """One kernel on one machine."""

    def __init__(self, nest, machine, sizes, formats):
        """`formats`: of every array of the diagram, with its axes."""
        self.nest, self.machine, self.sizes, self.formats = nest, machine, sizes, formats
        self.innermost = len(machine) - 1
        self.groups = [1] + [self.groups_at(level) for level in range(1, len(machine))]
        self.unclear = False  # whether it is not told in which order an array has its wires, and this matters
        self.buffers = {}
        self.needed = {item: Needed() for item in nest.root.leaves()}
        self.made = self.place_computed()
        self.place_others()
        for column in nest.columns:
            self.find_operands(column)

    # The lengths of pieces

    def size(self, wire):
        return self.sizes[wire.rstrip("'")]

    def labels(self, wire, level, place):
        """The sizes of a wire's pieces around a place, as far as a level's memory knows them."""
        found = [group.size for group in self.nest.groups if group.wire == wire and group.level <= level]
        loops = [loop.label for loop in place.path()]
        return found + [label.size for label in loops if label.wire == wire and label.level <= level]

    def length(self, wire, level, place):
        return min([self.size(wire)] + self.labels(wire, level, place))

    def groups_at(self, level):
        """Groups in one whole group of the level above."""
        count = 1
        for at, group in enumerate(self.nest.groups):
            if group.level == level:
                around = [outer.size for outer in self.nest.groups[:at] if outer.wire == group.wire]
                count *= -(-min([self.size(group.wire)] + around) // group.size)
        return count

    def pieces(self, loop):
        """Of a whole piece around the loop. One piece counts as several."""
        whole = self.length(loop.label.wire, self.innermost, loop.parent)
        return max(2, -(-whole // loop.label.size))

    def largest(self, indices, dimensions, level, place):
        """How many values the largest piece has; dimensions that share a wire are looked at together."""
        values, left = 1, list(zip(indices, dimensions))
        while left:
            some, wires = [left.pop(0)], set()
            while wires != self.nest.wires_of([index for index, _ in some]):
                wires = self.nest.wires_of([index for index, _ in some])
                some += [one for one in left if wires & self.nest.wires_of([one[0]])]
                left = [one for one in left if one not in some]
            values *= self.largest_of(some, sorted(wires), level, place)
        return values

    def largest_of(self, some, wires, level, place):
        if len(some) == 1 and some[0][0] in self.nest.names:
            return self.length(some[0][0], level, place)
        most, positions = 0, [(self.position(index, wires), size) for index, size in some]
        for chosen in itertools.product(*(leaves(self.size(wire), self.labels(wire, level, place)) for wire in wires)):
            corners = list(itertools.product(*((begin, begin + length - 1) for begin, length in chosen)))
            values = 1
            for position, size in positions:
                reached = [min(max(position(*at), 0), size - 1) for at in corners]
                values *= max(reached) - min(reached) + 1
            most = max(most, values)
        return most

    def position(self, index, wires):
        """An index as a function of the positions of wires."""
        tokens = ["v%d" % wires.index(t) if t in wires else t for t in nests.TOKEN.findall(index)]
        return eval("lambda %s: %s" % (", ".join("v%d" % at for at in range(len(wires))), "".join(tokens).replace("/", "//")))

    # What is held where, and what needs it

    def buffer(self, level, place, array, indices, kind):
        key = (level, place, array, indices)
        if key not in self.buffers:
            whole = [self.sizes[axis] for axis in self.formats[array][1]] if array in self.formats else [0] * len(indices)
            values = self.largest(indices, whole, level, place)
            self.buffers[key] = Buffer(level, place, array, indices, values, values * BYTES[kind], len(place.path()))
        return self.buffers[key]

    def need(self, item, buffer):
        """A column needs a buffer, or a save does, and so does for all its pieces a loop that stands around it within
        the place where the buffer lives."""
        inside = item.parent.path()[buffer.depth:]
        for one in [item, *(inside[0].leaves() if inside else [])]:
            if buffer not in self.needed[one].buffers:
                self.needed[one].buffers.append(buffer)

    def place_computed(self):
        """What is computed lives at the innermost level, in the innermost loop around all that touches it."""
        uses = {name: [] for name in self.nest.computed}
        for item in self.nest.root.leaves():
            uses[item.name].append(item)
            for read in item.reads if isinstance(item, Column) else []:
                if read.array in uses:
                    uses[read.array].append(item)
        made, self.unordered = {}, set()
        for name, items in uses.items():
            place = self.nest.root
            for loops in zip(*(item.parent.path() for item in items)):
                if any(loop is not loops[0] for loop in loops):
                    break
                place = loops[0]
            lengths = {wire: self.length(wire, self.innermost, place) for wire in self.nest.of_array[name]}
            indices, certain = self.nest.order(name, lengths)
            self.unordered |= set() if certain else {name}
            made[name] = self.buffer(self.innermost, place, name, indices, self.nest.formats[name])
            for item in items:
                self.need(item, made[name])
        return made

    def place_others(self):
        """Tiles of what is loaded, and outputs on their way."""
        for item in self.nest.root.leaves():
            if isinstance(item, Column):
                for read in item.reads:
                    for level in range(1, self.innermost + 1) if read.array not in self.made else []:
                        self.place_tile(item, read, level)
                continue
            for level in range(1, self.innermost):
                place = ([self.nest.root] + [loop for loop in item.parent.path() if loop.label.level <= level])[-1]
                self.need(item, self.buffer(level, place, item.name, tuple(self.nest.own_wires[item.name]),
                                            self.formats[item.name][0]))

    def place_tile(self, column, read, level):
        """A tile is loaded in the innermost loop, of its level or an outer one, that moves it. There it lives for all of
        the body; outside of all loops from the first to the last column that uses it."""
        moving = [loop for loop in column.parent.path()
                  if loop.label.level <= level and loop.label.wire in self.nest.wires_of(read.indices)]
        place = moving[-1] if moving else self.nest.root
        tile = self.buffer(level, place, read.array, read.indices, self.formats[read.array][0])
        for item in place.leaves() if moving else [column]:
            self.need(item, tile)

    def find_operands(self, column):
        """What a pointwise column may overwrite: operands of the same wires, in its own body."""
        needed = self.needed[column]
        needed.made = own = self.made[column.name]
        reduced = {read.array for read in column.reads if read.reduced}
        for read in column.reads:
            found = [b for b in needed.buffers if b.level == self.innermost and b.array == read.array and b is not own and
                     b.place is own.place is column.parent and b.values == own.values and
                     (b.array in self.made or b.indices == read.indices)]
            for other in found if read.array not in reduced else []:
                if {column.name, read.array} & self.unordered and sorted(other.indices) == sorted(own.indices):
                    self.unclear = True
                if other.indices == own.indices:
                    needed.operands.append(other)

    # The walk

    def fullest(self, level, alone=False):
        """Values and bytes of one memory at its fullest, or the part of one of the groups that share it; `alone`: of one
        group of every level, which is M of the document."""
        self.level, self.alone, self.instants, self.lives, self.last = level, alone, [], {}, {}
        self.run(self.nest.root.items, 0, (), ())
        beside = math.prod(self.turns_of(outer) for outer in range(1, level) if self.machine[outer].shared and not alone)
        return tuple(beside * most for most in self.most())

    def most(self):
        """The largest sums of all instants."""
        values, bytes_ = [0] * (len(self.instants) + 1), [0] * (len(self.instants) + 1)
        for (buffer, *_), (begin, end) in self.lives.items():
            for change, amount in ((values, buffer.values), (bytes_, buffer.bytes)):
                change[begin] += amount
                change[end + 1] -= amount
        for now, instant in enumerate(self.instants):
            for change, saved in zip((values, bytes_), self.overwritten(now, *instant)):
                change[now] -= saved
                change[now + 1] += saved
        return max(itertools.accumulate(values)), max(itertools.accumulate(bytes_))

    def turns_of(self, level):
        """Groups of one parent that one child works on."""
        return -(-self.groups[level] // self.machine[level].count)

    def run(self, items, level, groups, pieces):
        """What a group of `level` does: its loops, piece by piece, and between them the groups below it in turns."""
        begin = 0
        for at, item in enumerate(items):
            if isinstance(item, Loop) and item.label.level == level:
                self.take_turns(items[begin:at], level + 1, groups, pieces)
                for piece in range(self.pieces(item)):
                    self.run(item.items, level, groups, pieces + (piece,))
                begin = at + 1
        self.take_turns(items[begin:], level + 1, groups, pieces)

    def take_turns(self, items, level, groups, pieces):
        if level > self.innermost:
            for item in items:
                self.instant(item, groups, pieces)
        elif items:
            # Groups that share a memory are at work at the same time.
            at_once = self.alone or self.machine[level].shared
            for turn in range(1 if at_once else self.turns_of(level)):
                self.run(items, level, groups + (turn,), pieces)

    def instant(self, item, groups, pieces):
        """A column takes an instant; a save belongs to its group's column in front of it."""
        if isinstance(item, Column):
            self.last[groups] = len(self.instants)
            self.instants.append((item, groups, pieces))
        if len(self.instants) > MOST_INSTANTS:
            raise TooLong()
        now = self.last[groups]
        for buffer in self.needed[item].buffers:
            if buffer.level == self.level:
                key = self.key(buffer, groups, pieces)
                begin, end = self.lives.get(key, (now, now))
                self.lives[key] = (begin, max(end, now))

    def key(self, buffer, groups, pieces):
        """One buffer of one group, for one piece of the loops around the place where it lives."""
        return (buffer, pieces[:buffer.depth], groups[:buffer.level])

    def overwritten(self, now, column, groups, pieces):
        """Values and bytes of what a column makes in the place of an operand that ends with it."""
        needed = self.needed[column]
        if self.level != self.innermost or self.lives[self.key(needed.made, groups, pieces)][0] != now:
            return 0, 0
        ending = [b for b in needed.operands if self.lives[self.key(b, groups, pieces)][1] == now]
        return (needed.made.values if ending else 0,
                max((min(needed.made.bytes, other.bytes) for other in ending), default=0))
