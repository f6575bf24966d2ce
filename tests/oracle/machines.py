"""Random machines of two to four levels: what every memory has room for, how many children share it, who takes turns."""
import re
from dataclasses import dataclass

NAMES = ["top", "mid", "low", "in"]


@dataclass
class Level:
    name: str
    count: int = 1  # children of one parent
    shared: bool = False  # one memory for all of them
    capacity: int = 0
    usable: int = 0  # by one group; 0 where the profile leaves it to the capacity
    max_groups: int = 0  # of one group of the level above; 0 where the profile has none
    in_values: bool = False
    model: str = "machine"  # of the outermost level: in which model plans are asked for

    def room(self):
        """Of one group."""
        return self.usable or self.capacity

    def room_of_all(self):
        """Of a memory with all its groups."""
        return self.capacity if self.shared else self.room()


def draw(rng):
    """Levels of a machine, outermost first, of which no group has more room than one of the level above."""
    names = NAMES[:1] + NAMES[-rng.choice([1, 2, 2, 3]):]
    in_values = rng.random() < 0.15
    room = int(2 ** rng.uniform(10, 16))
    levels = [Level(names[0], capacity=room, model=rng.choice(["machine", "machine", "ideal"]))]
    for name in names[1:]:
        room = max(8, int(room * rng.uniform(0.2, 1)))
        level = Level(name, rng.choice([1, 1, 2, 2, 3, 4]), rng.random() < 0.25, room, in_values=in_values)
        if level.shared:
            level.capacity = room * rng.choice([1, 2, level.count, 8])
        if level.shared or rng.random() < 0.2:
            level.usable = room
        if rng.random() < 0.15:
            level.max_groups = rng.randint(1, 8)
        levels.append(level)
    return levels


def profile(levels):
    """The file that says it."""
    lines = ["name: drawn", "description: %s model" % levels[0].model, "levels:"]
    for at, level in enumerate(levels):
        lines += ["  %s:" % level.name, "    unit: part%d" % at]
        unit = "" if level.in_values else " B"
        lines += ["    in_values: true"] if level.in_values else []
        lines += ["    count: %d assumed DRAWN" % level.count] if at else []
        lines += ["    shared: true"] if level.shared else []
        lines += ["    capacity: %d%s assumed DRAWN" % (level.capacity, unit)]
        lines += ["    usable: %d%s assumed DRAWN" % (level.usable, unit)] if level.usable else []
        lines += ["    max_groups: %d assumed DRAWN" % level.max_groups] if level.max_groups else []
    return "\n".join(lines + ["sources:", "  DRAWN: drawn at random"]) + "\n"


def parse(text):
    """The levels of a file that `profile` made."""
    levels, model = [], re.search(r"description: (\w+) model", text)[1]
    for line in text.split("sources:")[0].split("\n"):
        name = re.match(r"  (\w+):$", line)
        number = re.match(r"    (\w+): +(\w+)", line)
        if name:
            levels.append(Level(name[1], model=model))
        elif number and number[1] != "unit":
            value = number[2] == "true" if number[2] == "true" else int(number[2])
            setattr(levels[-1], number[1], value)
    return levels
