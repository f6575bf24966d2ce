"""What memories hold in the ideal model of docs/theory.md: tiles of inputs and outputs, what lives on from piece to piece
and is larger than an output, and what groups that wait keep."""
import itertools

from held import Walk
from nests import Column, Save


class IdealWalk(Walk):
    """The same walk, in which a group at work holds the same all the time."""

    def fullest(self, level, alone=False):
        self.level, self.alone, self.counted = level, True, set()
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
        """At every instant what is at work, and what all other groups hold."""
        values, bytes_ = [0] * (len(self.instants) + 1), [0] * (len(self.instants) + 1)
        return super().most() if not hasattr(self, "at_work") else self.others(values, bytes_)

    def others(self, values, bytes_):
        """The largest sums of what groups hold that are not at work, and of what the one at work does."""
        for (buffer, _, group), (begin, end) in self.lives.items():
            for now in range(begin, end + 1):
                if self.instants[now][1][:self.level] != group:
                    values[now] += buffer.values
                    bytes_[now] += buffer.bytes
        return self.at_work[0] + max(values), self.at_work[1] + max(bytes_)
