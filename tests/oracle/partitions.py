"""Random partitions by hand, on machines of one to three levels below the outermost."""
import re
from dataclasses import dataclass

# Name of a machine, its options, and its levels below the outermost.
MACHINES = {
    "two-level": (["--target", "two-level", "--set-target", "M=100000"], ["low"]),
    "toy": (["--target", "toy", "--set-target", "levels.smem.capacity=1 MiB", "--set-target", "levels.reg.capacity=256 KiB",
             "--set-target", "levels.reg.usable=64 KiB"], ["smem", "reg"]),
    "avx2": (["--target", "x86-64-avx2", "--set-target", "levels.reg.capacity=16 KiB"], ["l2", "l1", "reg"]),
}


@dataclass
class Label:
    kind: str  # group or stream
    wire: str
    size: int
    level: str

    def axis(self):
        return self.wire.rstrip("'")


def text_of(labels):
    return "; ".join("%s %s %d at %s" % (l.kind, l.wire, l.size, l.level) for l in labels)


def parse(text):
    """Labels in the words of a partition, several of one level on a line too."""
    labels = []
    for line in text.split(";"):
        line, level = line.rsplit(" at ", 1)
        kind = ""
        for part in line.split(","):
            words = part.split()
            kind = words[0] if len(words) == 3 else kind
            labels.append(Label(kind, words[-2], int(words[-1]), level.strip()))
    return labels


def draw(random, groupable, streamable, sizes):
    """A machine's name and labels that may be legal."""
    machine = random.choice(list(MACHINES))
    lengths = {}
    labels = []
    for level in MACHINES[machine][1]:
        groups = [wire for wire in groupable if random.random() < 0.3]
        streams = random.sample(streamable, min(len(streamable), random.choice([0, 1, 1, 2, 2, 3])))
        for kind, wires in (("group", groups), ("stream", streams)):
            for wire in wires:
                whole = lengths.get(wire, sizes[re.sub("'", "", wire)])
                size = random.randint(1, max(1, whole - (random.random() < 0.8)))
                lengths[wire] = size
                labels.append(Label(kind, wire, size, level))
    return machine, labels


def draw_parts(random, streamable, groupable, sizes):
    """A group of a wire that carries a state: equal parts, which another kernel merges."""
    wire = random.choice([w for w in streamable if w not in groupable] or streamable)
    whole = sizes[wire.rstrip("'")]
    divisors = [n for n in range(1, whole + 1) if whole % n == 0]
    machine = random.choice(list(MACHINES))
    levels = MACHINES[machine][1]
    size = random.choice(divisors)
    labels = [Label("group", wire, size, levels[0])]
    if len(levels) > 1 and size > 1:
        labels.append(Label("stream", wire, random.randint(1, size - 1), levels[1]))
    return machine, labels
