"""Random diagrams whose arrays are read at sums, differences and quotients of positions, also of axes that are shorter than
the array's."""
import random

# Sizes of arrays' axes in terms of the positions that reads may take.
AXES = "a b c".split()


class Reads:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.size = {axis: self.rng.randint(1, 6) for axis in AXES}
        self.declared, self.inputs = [], {}

    def axis(self, least, taken):
        """An axis of an array that has so many positions, or some more; at times one of those that are summed."""
        known = [name for name, size in self.size.items() if size >= least and name not in taken]
        if known and self.rng.random() < 0.7:
            return self.rng.choice(known)
        name = "y%d" % len(self.declared)
        self.size[name] = least + self.rng.choice([0, 0, 0, 1, 2])
        self.declared.append(name)
        return name

    def index(self, free):
        """An index of the positions in scope, and how many values it may have."""
        one, other, kind = self.rng.choice(free), self.rng.choice(free), self.rng.random()
        size, more = self.size[one], self.size[other]
        if kind < 0.35 or one == other and kind < 0.7:
            return one, size
        if kind < 0.5:
            return "%s + %s" % (one, other), size + more - 1
        if kind < 0.6:
            return "2*%s + %s" % (one, other), 2 * (size - 1) + more
        if kind < 0.7:
            return "%s - %s + %d" % (one, other, more - 1), size + more - 1
        if kind < 0.85:
            by = self.rng.randint(2, 4)
            return "%s / %d" % (one, by), (size - 1) // by + 1
        return ("(%s + 1) / 2" % one, size // 2 + 1) if kind < 0.95 else ("%d" % self.rng.randint(0, 2), 3)

    def read(self, free):
        indices = [self.index(free) for _ in range(self.rng.choice([1, 1, 2]))]
        name = "ABCD"[len(self.inputs)] if len(self.inputs) < 4 and self.rng.random() < 0.7 or not self.inputs else None
        if name is None:
            name = self.rng.choice(sorted(self.inputs))
            axes = self.inputs[name]
            indices = [self.fitting(free, self.size[axis]) for axis in axes]
        else:
            self.inputs[name] = []
            for _, count in indices:
                self.inputs[name].append(self.axis(count, self.inputs[name]))
            indices = [text for text, _ in indices]
        return "%s[%s]" % (name, ", ".join(indices))

    def fitting(self, free, size):
        for _ in range(40):
            text, count = self.index(free)
            if count <= size:
                return text
        return "0"

    def factor(self, free):
        read = self.read(free)
        return self.rng.choice(["%s", "%s", "%s", "tanh(%s)", "max(%s, " + self.read(free) + ")", "(%s + " + self.read(free) + ")"]) % read

    def text(self):
        kept = self.rng.sample(AXES, self.rng.choice([0, 0, 1]))
        summed = [axis for axis in AXES if axis not in kept]
        summed = self.rng.sample(summed, self.rng.randint(1, len(summed)))
        body = " * ".join(self.factor(kept + summed) for _ in range(self.rng.randint(1, 3)))
        if self.rng.random() < 0.2:
            body = "where(%s <= %s, %s, 0)" % (self.rng.choice(kept + summed), self.rng.choice(kept + summed), body)
        lines = ["diagram d"] + ["axis %s = %d" % item for item in self.size.items()]
        lines += ["input %s: f64[%s]" % (name, ", ".join(axes)) for name, axes in self.inputs.items()]
        return "\n".join(lines + ["R: f64[%s] = sum[%s](%s)" % (", ".join(kept), ", ".join(summed), body), "output R"]) + "\n"
