"""What memories hold in the ideal model of docs/theory.md: tiles of inputs and outputs, what lives on from piece to piece
and is larger than an output, and what groups that wait keep."""
import collections

from held import Walk
from nests import Save


class IdealWalk(Walk):
    """The same walk, in which a group at work holds the same all the time."""

    def fullest(self, level, alone=False):
        self.at_work = None
        super().fullest(self.innermost, alone=True)
        counted = {buffer for buffer in self.buffers.values() if buffer.level == level and self.counts(buffer)}
        self.at_work = sum(b.values for b in counted), sum(b.bytes for b in counted)
        return super().fullest(level, alone)

    def counts(self, buffer):
        """Whether a group at work holds a buffer in this model."""
        saved = {item.name for item in self.needed if isinstance(item, Save)}
        if buffer.array not in self.nest.computed or buffer.array in saved:
            return True
        return self.is_swept(buffer) or self.lives_on(buffer) and not self.is_within_output(buffer, saved)

    def is_swept(self, buffer):
        """Whether a loop inside the place where it lives goes over its positions."""
        return any(loop.label.wire in buffer.indices for column in self.nest.columns
                   if column.name == buffer.array or any(read.array == buffer.array for read in column.reads)
                   for loop in column.parent.path()[buffer.depth:])

    def lives_on(self, buffer):
        """Whether it is there while a column of a deeper loop runs. The last walk was of one group of the innermost level."""
        return any(len(column.parent.path()) > buffer.depth for (one, *_), (begin, end) in self.lives.items() if one is buffer
                   for column, _, _ in self.instants[begin:end + 1])

    def is_within_output(self, buffer, saved):
        return any(set(buffer.indices) <= set(self.nest.own_wires[name]) for name in saved)

    def most(self):
        """The largest sums of what the group at work holds here, and all others in truth."""
        if self.at_work is None:
            return super().most()
        changes = [[] for _ in range(len(self.instants) + 1)]
        for (buffer, _, group), (begin, end) in self.lives.items():
            changes[begin].append((group, buffer.values, buffer.bytes))
            changes[end + 1].append((group, -buffer.values, -buffer.bytes))
        there, most = collections.defaultdict(lambda: [0, 0]), [0, 0]
        for now, (_, groups, _) in enumerate(self.instants):
            for group, *more in changes[now]:
                for sums in (there[group], there["all"]):
                    sums[0] += more[0]
                    sums[1] += more[1]
            own = there[groups[:self.level]]
            most = [max(so_far, whole - part) for so_far, whole, part in zip(most, there["all"], own)]
        return self.at_work[0] + most[0], self.at_work[1] + most[1]
