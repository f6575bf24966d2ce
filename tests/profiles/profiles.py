#!/usr/bin/env python3
"""Machines nobody has seen: profiles derived at random from shipped ones, planned through the public commands alone.

    tests/profiles/profiles.py --profiles 200 --seed 7 --jobs 2
    tests/profiles/profiles.py --machines h100-sxm5 --diagrams attention --profiles 20

A chain begins at a shipped profile, sometimes without any instructions, and changes one thing at a time: twice or half of a
memory's room, of a bandwidth, of the rate of a unit, of the cores with or without the bandwidth that fills them, or no
instructions of one family. Its machines are written as files. Of a diagram with random sizes, and of every two
neighbours of a chain,

- by hand: no plan of the one is faster on the other than what was found there. This is a law of the search alone.
- monotone: the plan of the one with more is not slower.
- model: a plan is not slower on the one with more.

The last two do not hold where there are more cores and no more bandwidth, since all cores that begin together share it;
nor of instructions, since a block takes those that its rows fill more than half, not those that would be fastest. Nor need
a plan be as fast where other numbers of its blocks are on an SM together: more of them may fill its partitions less
evenly, and wait for each other at the end under masks; fewer hide less of each other. Partitions whose blocks leave rows
of an instruction empty are not in the space of the search (docs/theory.md) and not compared. Then a short climb by hand is
made on the last machine of the chain. Where a plan is proven the tolerance is half a per cent; where a gap is stated, the
gap as well.
"""
import argparse
import concurrent.futures
import math
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/climb"))
from climb import TOLERANCE, Climb, allowed, analyze, seconds  # noqa: E402

MACHINES = ["a100-sxm4-40", "a100-sxm4-80", "b200-sxm", "h100-pcie", "h100-sxm5", "h200-sxm", "rtx3090", "rtx4090",
            "v100-sxm2", "mi300x", "x86-64-avx2", "toy"]
# Diagrams that are planned in moments, and the lengths that their axes may have.
LONG = [256, 512, 1000, 1024, 2048, 3000, 4096, 8192]
DIAGRAMS = {
    "matmul": {"a": LONG, "b": LONG, "c": LONG},
    "matmul_bias_relu": {"a": LONG, "b": LONG, "c": LONG},
    "attention": {"q": LONG, "x": LONG, "d": [64, 128]},
    "causal": {"q": LONG, "x": LONG, "d": [64, 128]},
    "softmax": {"r": LONG, "x": LONG},
    "logsumexp": {"r": LONG, "x": LONG},
    "variance": {"r": LONG, "x": LONG},
    "chained_matmul": {"a": LONG, "b": LONG, "c": [64, 128], "d": LONG},
    "rmsnorm_projection": {"t": LONG, "c": LONG, "o": LONG},
}
LONG_BARE = {"attention", "causal"}  # takes up to half a minute to plan where there are no instructions
BARE = 0.15  # of the other chains, on machines without any instructions
CORES = "cores"  # alone, which plans need not be faster with
NUMBER = re.compile(r"^(?P<begin>\s*(?P<key>[^:#]+):\s+)(?P<number>[0-9.]+)(?P<end>\s.*|)$")
KEY = re.compile(r"^(?P<indent>\s*)(?P<key>[^:#\s][^:#]*):(?P<value>.*)$")


class Profile:
    """The text of a shipped profile: its lines, each with the path of what it says."""

    def __init__(self, name):
        with open(os.path.join(ROOT, "hardware_profiles", name + ".yaml")) as file:
            self.lines = [(self.path_of(line, above), line.rstrip("\n")) for above in [[]] for line in file]
        self.name = name

    @staticmethod
    def path_of(line, above):
        """`above` has the keys that lines below belong to, with how far each is indented."""
        key = KEY.match(line)
        if not key:
            return ""
        while above and above[-1][0] >= len(key["indent"]):
            above.pop()
        above.append((len(key["indent"]), key["key"]))
        return "/".join(key for _, key in above)

    def paths(self, under):
        return {path for path, _ in self.lines if path == under or path.startswith(under + "/")}

    def keys(self, under):
        """In the order of the file."""
        depth = under.count("/") + 1
        return list(dict.fromkeys(path.split("/")[depth] for path, _ in self.lines if path.startswith(under + "/")))

    def core(self):
        return next((line.split()[1] for path, line in self.lines if path == "core"), None)

    def rate(self, *under):
        """Of a rate, what is not a share of its other numbers."""
        return {path for one in under for path in self.paths(one) if "fraction" not in path}

    def things(self):
        """What a machine may have more of: the numbers that it consists of, by its name."""
        levels, core = self.keys("levels"), self.core()
        made = {}
        for level in levels[1:]:
            made["room of " + level] = self.paths("levels/%s/capacity" % level) | self.paths("levels/%s/usable" % level)
            made["bandwidth of " + level] = self.rate("levels/%s/bandwidth" % level)
            if self.paths("levels/%s/shared" % level):
                made["room of " + level] |= {"limits/registers_per_sm", "limits/registers_per_thread"}
        for cache in self.keys("caches"):
            made["room of " + cache] = self.paths("caches/%s/capacity" % cache)
            made["bandwidth of " + cache] = self.rate("caches/%s/bandwidth" % cache)
        for unit in self.keys("compute"):
            made["rate of " + unit] = self.rate(*("compute/%s/%s" % (unit, table)
                                                  for table in ("per_clock", "datasheet", "sustained")))
        if core:
            outer = ["levels/%s/bandwidth" % level for level in levels[:levels.index(core) + 1]]
            made[CORES] = self.of_cores(levels, core)
            made["cores and bandwidth"] = made[CORES] | self.rate(*outer)
        present = {path for path, _ in self.lines}
        return {what: paths & present for what, paths in made.items() if paths & present}

    def of_cores(self, levels, core):
        """Rates of the whole machine that are so much of each core: also what each can pull out of the cache."""
        inside = ["levels/%s/bandwidth" % level for level in levels[levels.index(core) + 1:]]
        caches = ["caches/%s/bandwidth" % cache for cache in self.keys("caches")]
        units = ["compute/%s/%s" % (unit, table) for unit in self.keys("compute") for table in ("datasheet", "sustained")]
        return {"levels/%s/count" % core} | self.rate("siblings/%s/bandwidth" % core, *inside, *caches, *units)

    def families(self):
        return [(unit, family) for unit in self.keys("compute") for family in self.keys("compute/%s/instructions" % unit)]

    def text(self, factors, without):
        """With numbers multiplied, by their paths, and without what lies under some paths."""
        made = []
        for path, line in self.lines:
            if any(path == one or path.startswith(one + "/") for one in without):
                continue
            number = NUMBER.match(line)
            if number and factors.get(path, 1) != 1:
                value = float(number["number"]) * factors[path]
                whole = path.startswith("limits/") or path.endswith("/count")
                line = number["begin"] + (str(int(value)) if whole else repr(value)) + number["end"]
            made.append(line)
        return "\n".join(made) + "\n"


class Machine:
    """A shipped profile with some things doubled or halved, so often, and some families of instructions left out."""

    def __init__(self, profile, powers=None, without=()):
        self.profile, self.powers, self.without = profile, powers or {}, tuple(without)

    def changed(self, what, power):
        return Machine(self.profile, {**self.powers, what: self.powers.get(what, 0) + power}, self.without)

    def lacking(self, family):
        return Machine(self.profile, self.powers, self.without + (family,))

    def text(self):
        factors = {}
        for what, power in self.powers.items():
            for path in self.profile.things()[what]:
                factors[path] = factors.get(path, 1) * 2.0 ** power
        left_out = {"compute/%s/instructions/%s" % one for one in self.without}
        emptied = {"compute/%s/instructions" % unit for unit, _ in self.without
                   if all(one in self.without for one in self.profile.families() if one[0] == unit)}
        return self.profile.text(factors, left_out | emptied)

    def __str__(self):
        changes = ["%s x %g" % (what, 2.0 ** power) for what, power in self.powers.items() if power]
        return ", ".join([self.profile.name] + changes + ["no " + family for _, family in self.without])


def chain(profile, rng, longest, long_bare):
    """Machines each of which has one thing more or less than the one before; whether it is more, and faster for it."""
    bare = rng.random() < BARE and not long_bare
    made, changes = [Machine(profile, without=profile.families() if bare else ())], []
    for _ in range(rng.randint(1, longest)):
        left = [one for one in profile.families() if one not in made[-1].without]
        if len(left) > 1 and rng.random() < 0.15:
            made.append(made[-1].lacking(rng.choice(left)))
            changes.append((False, False))
            continue
        what, power = rng.choice(sorted(profile.things())), rng.choice([-1, 1])
        made.append(made[-1].changed(what, power))
        changes.append((power > 0, what != CORES))
    return made, changes


def with_sizes(name, rng):
    """The text of an example with random lengths."""
    with open(os.path.join(ROOT, "examples", name + ".nap")) as file:
        text = file.read()
    for axis, sizes in DIAGRAMS[name].items():
        text, found = re.subn(r"(?m)^(axis %s = )\d+" % axis, lambda m: m[1] + str(rng.choice(sizes)), text)
        assert found == 1, (name, axis)
    return text


def fills(report):
    """Whether the rows of every block fill the instructions of its products, or are all that there are."""
    for kernel in report["kernels"] if report else []:
        made = kernel["configuration"]
        rows = [product["of_rows"] for product in kernel["products"] if product["instruction"]]
        if made and rows and made["rows"] % max(rows) and made["rows"] < report["sizes"][made["row_axis"]]:
            return False
    return True


class FilledClimb(Climb):
    """Among partitions whose blocks fill instructions, since no others are in the space."""

    def price(self, splits):
        text = self.text(splits)
        if text not in self.asked:
            report = analyze(self.options, self.example, self.machine, text) if splits else None
            self.asked[text] = seconds(report) if fills(report) else None
        return self.asked[text]


def residents(report):
    """Of every kernel whose launch is known block by block, as many of them as are on an SM together."""
    launches = [(kernel["configuration"] or {}).get("launch") for kernel in report["kernels"]]
    return [one and min(one["blocks_per_core"], math.ceil(one["blocks"] / one["cores"] / one["turns"])) for one in launches]


def microseconds(*reports):
    return " against ".join("it does not fit" if seconds(one) is None else "%.4f us" % (1e6 * seconds(one)) for one in reports)


class Try:
    """One diagram on the machines of one chain; `failed` has what is against the laws."""

    def __init__(self, options, folder, number):
        self.options, self.number = options, number
        self.random = random.Random(options.seed * 100003 + number)
        self.folder = os.path.join(folder, str(number))
        os.mkdir(self.folder)
        self.failed, self.compared, self.climbed, self.unsure = [], 0, 0, 0

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run(self):
        profile = Profile(self.random.choice(self.options.machines))
        diagram = self.random.choice(self.options.diagrams)
        self.machines, changes = chain(profile, self.random, self.options.longest, diagram in LONG_BARE)
        self.diagram = self.write(diagram + ".nap", with_sizes(diagram, self.random))
        self.files = [self.write("%d.yaml" % at, one.text()) for at, one in enumerate(self.machines)]
        self.plans = [self.planned(file) for file in self.files]
        for at, (more, faster) in enumerate(changes):
            self.compare(*((at, at + 1) if more else (at + 1, at)), faster)
        self.climb(len(self.files) - 1)
        return self

    def planned(self, file):
        """None where the file describes no machine: half of a core, or memories that grow inwards."""
        read = subprocess.run([self.options.napkin, "targets", file, "-q"], capture_output=True, timeout=600)
        return analyze(self.options, self.diagram, file) if read.returncode == 0 else None

    def fail(self, law, at, words):
        sizes = " ".join("%s=%d" % one for one in sorted(self.plans[at]["sizes"].items()))
        self.failed.append("%s: %d: %s %s on %s: %s" % (
            law, self.number, os.path.basename(self.diagram), sizes, self.machines[at], words))

    def compare(self, less, more, faster):
        if self.plans[less] is None or self.plans[more] is None:
            return
        self.compared += 1
        small, large = seconds(self.plans[less]), seconds(self.plans[more])
        if small is not None and large is None:
            return self.fail("monotone", more, "nothing fits; on %s it does" % self.machines[less])
        if large is not None and small is not None:
            self.by_hand(more, less, False)
        if small is not None and self.by_hand(less, more, faster) and faster:
            self.check("monotone", more, small, "planned on " + str(self.machines[less]))

    def by_hand(self, source, target, faster):
        """The plan of one machine on the other; where that has more and is faster for it, no slower. False if it is, and
        other numbers of its blocks are on an SM together."""
        plan = self.plans[source]
        if plan["partition"] is None:
            return True
        here, there = (analyze(self.options, self.diagram, self.files[at], plan["partition"]) for at in (source, target))
        words = "the plan of %s: %s" % (self.machines[source], plan["partition"])
        if seconds(there) is not None and fills(there):
            self.check("by hand", target, seconds(there), words)
        slower = seconds(there) is None or seconds(there) > seconds(here) * (1 + 1e-6)
        if slower and seconds(there) is not None and residents(here) != residents(there):
            return False
        if slower and faster:
            self.fail("model", target, "%s, but %s there" % (words, microseconds(there, here)))
        return True

    def check(self, law, at, time, words):
        plan, most = self.plans[at], allowed(self.plans[at])
        if most is None:
            self.unsure += 1
        elif time < seconds(plan) * (1 - most):
            self.fail(law, at, "%.4f us planned (%s), %.4f us %s" % (
                1e6 * seconds(plan), "optimal" if plan["search"]["optimal"] else "gap %s" % plan["search"]["gap"],
                1e6 * time, words))

    def climb(self, at):
        plan = self.plans[at]
        if self.options.steps == 0 or plan is None or seconds(plan) is None:
            return
        level = self.machines[at].profile.core() or plan["kernels"][0]["levels"][0]["level"]
        made = FilledClimb(self.options, self.diagram, self.files[at], level, plan, self.random.random()).run()
        if made.time is not None:
            self.climbed += 1
            self.check("climb", at, made.time, made.text(made.best))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=os.path.join(ROOT, "build/release/napkin"))
    parser.add_argument("--profiles", type=int, default=200, help="so many chains")
    parser.add_argument("--longest", type=int, default=3, help="changes of a chain")
    parser.add_argument("--steps", type=int, default=20, help="of the climb on its last machine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first chain; a chain depends on seed and number")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--machines", nargs="*", default=MACHINES)
    parser.add_argument("--diagrams", nargs="*", default=sorted(DIAGRAMS))
    parser.add_argument("--keep", help="a folder, new, for the files of all chains")
    options = parser.parse_args()
    made = None if options.keep else tempfile.TemporaryDirectory()
    if options.keep:
        os.makedirs(options.keep)
    folder = options.keep or made.name
    compared = climbed = failed = unsure = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(options.first, options.first + options.profiles)
        for done in pool.map(lambda number: Try(options, folder, number).run(), numbers):
            compared, climbed, unsure = compared + done.compared, climbed + done.climbed, unsure + done.unsure
            failed += len(done.failed)
            for line in done.failed:
                print(line, flush=True)
    print("%d chains, %d pairs of machines compared, %d climbs, %d plans of which no gap is said: %d against the laws" % (
        options.profiles, compared, climbed, unsure, failed))
    if compared < options.profiles / 2:
        sys.exit("fewer machines were compared than half of the chains")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
