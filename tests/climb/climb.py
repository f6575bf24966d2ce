#!/usr/bin/env python3
"""Climbs by hand: random partitions, improved step by step through the public commands alone, against what is called best.

    tests/climb/climb.py --climbs 200 --steps 100 --seed 7 --jobs 2
    tests/climb/climb.py --examples attention.nap --machines h100-sxm5 --climbs 20

Nothing of napkin's search is known here: a partition is a text, and its time is what `napkin analyze --partition` says. A
climb begins at a random partition of a diagram on a machine, changes one thing at a time and goes on from what is no
slower. Where a plan is called optimal no climb may be faster by more than half a per cent; where a gap is stated, by no
more than the gap as well.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys

TOLERANCE = 0.005  # that times of plans and of the same partitions by hand may be apart
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/planned"))
import planned as shared  # noqa: E402

SIZES = [1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512, 768, 1024, 2048, 4096, 8192]


def analyze(options, example, machine, partition=None):
    """The JSON of `napkin analyze`, or None where it refuses the partition."""
    command = [options.napkin, "analyze", example, "--target", machine, "--format", "json", "-q"]
    command += ["--partition", partition] if partition else []
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if ran.returncode not in (0, 1, 2, 3) or (ran.returncode and not partition):
        raise RuntimeError("%s: exit %d\n%s" % (" ".join(command), ran.returncode, ran.stderr))
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def derived_axes(options, example, sizes):
    """The axes that may be grouped, and those that may be streamed, by `napkin derive`."""
    command = [options.napkin, "derive", example, "--format", "json"]
    kernels = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout)["kernels"]
    groups = {axis for kernel in kernels for axis in kernel["groupable"]}
    streams = {one["axis"] for kernel in kernels for one in kernel["streamable"]}
    return sorted(groups & sizes.keys()), sorted(streams & sizes.keys())


def seconds(report):
    """The time of a report whose kernels all fit; None otherwise."""
    if report is None or not all(kernel["fits"] for kernel in report["kernels"]):
        return None
    times = [kernel["time_s"] for kernel in report["kernels"]]
    return None if any(time is None for time in times) else sum(times)


class Climb:
    """One climb; `best` is the fastest partition that it has seen, `time` what that takes."""

    def __init__(self, options, example, machine, level, plan, seed):
        self.options, self.example, self.machine, self.level = options, example, machine, level
        self.random = random.Random(seed)
        self.sizes = {axis: size for axis, size in plan["sizes"].items() if not axis.endswith(("_part", "_in_part"))}
        self.axes = derived_axes(options, example, self.sizes)
        self.time, self.best, self.asked = None, None, {}

    def text(self, splits):
        """Rows of a warp are a group at the level below."""
        return "; ".join("%s %s %d at %s" % (("group", axis, size, "reg") if kind == "rows" else (kind, axis, size, self.level))
                         for kind, axis, size in sorted(splits, key=lambda split: split[0] == "rows"))

    def price(self, splits):
        text = self.text(splits)
        if text not in self.asked:
            self.asked[text] = seconds(analyze(self.options, self.example, self.machine, text)) if splits else None
        return self.asked[text]

    def size_for(self, axis):
        return min(self.random.choice(SIZES), self.sizes[axis])

    def split(self):
        axis = self.random.choice(sorted(self.sizes))
        return (self.random.choice(["group", "group", "stream"]), axis, self.size_for(axis))

    def start(self):
        """A random partition that runs: one that does not is cut smaller, or along one more axis, a few times."""
        for _ in range(20):
            splits = self.random_splits()
            for _ in range(12):
                if self.price(splits) is not None:
                    return splits
                splits = self.smaller(splits)
        return None

    def random_splits(self):
        """Now and then anything; else groups of most axes that `napkin derive` names, and a stream or two."""
        if self.random.random() < 0.3:
            return self.ordered([self.split() for _ in range(self.random.randint(1, 4))])
        groups, streams = self.axes
        splits = [("group", axis, self.size_for(axis)) for axis in groups if self.random.random() < 0.8]
        splits += [("stream", axis, self.size_for(axis)) for axis in streams if self.random.random() < 0.6]
        return self.ordered(splits or [self.split()])

    def smaller(self, splits):
        """With one size a good deal smaller, mostly the greatest, or one more split."""
        at = self.random.randrange(len(splits) + 1)
        if at == len(splits):
            return self.ordered(splits + [self.split()])
        if self.random.random() < 0.7:
            at = max(range(len(splits)), key=lambda i: splits[i][2])
        kind, axis, size = splits[at]
        return splits[:at] + [(kind, axis, max(1, size // self.random.choice([2, 4, 8])))] + splits[at + 1:]

    @staticmethod
    def ordered(splits):
        """Groups stand before streams; one of a kind for an axis, and rows along one axis."""
        seen, all_of = set(), []
        for split in sorted(splits, key=lambda split: split[0]):
            one = split[0] if split[0] == "rows" else split[:2]
            if one not in seen:
                seen.add(one)
                all_of.append(split)
        return all_of

    def changed(self, splits):
        splits = list(splits)
        at = self.random.randrange(len(splits))
        kind, axis, size = splits[at]
        move = self.random.choice(["near", "near", "near", "any", "add", "drop", "swap", "kind", "rows"])
        if move == "near":
            step = self.random.choice([size, -size // 2, 8, -8, 16, -16, 32, -32, 64, -64])
            splits[at] = (kind, axis, max(1, min(size + step, self.sizes[axis])))
        elif move == "any":
            splits[at] = (kind, axis, self.size_for(axis))
        elif move == "add":
            splits.append(self.split())
        elif move == "drop" and len(splits) > 1:
            splits.pop(at)
        elif move == "swap":
            other = self.random.randrange(len(splits))
            splits[at], splits[other] = splits[other], splits[at]
        elif move == "rows":
            splits = [split for split in splits if split[0] != "rows"]
            splits.append(("rows", axis, min(self.random.choice([8, 16, 32, 48, 64, 80, 128]), self.sizes[axis])))
        elif move == "kind" and kind != "rows":
            splits[at] = ("stream" if kind == "group" else "group", axis, size)
        return self.ordered(splits)

    def run(self):
        here = self.start()
        if here is None:
            return self
        self.time, self.best = self.price(here), here
        for _ in range(self.options.steps):
            other = self.changed(here)
            time = self.price(other)
            if time is not None and time <= self.price(here):
                here = other
                if time < self.time:
                    self.time, self.best = time, other
        return self


def allowed(plan):
    """By which share a climb may be faster than the plan."""
    if plan["search"]["optimal"]:
        return TOLERANCE
    gap = plan["search"]["gap"]
    return None if gap is None else gap + TOLERANCE


def climb(options, job):
    example, machine, level, plan, seed = job
    return Climb(options, example, machine, level, plan, seed).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=os.path.join(ROOT, "build/release/napkin"))
    parser.add_argument("--climbs", type=int, default=200)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--examples", nargs="*", default=sorted(os.listdir(os.path.join(ROOT, "examples"))))
    parser.add_argument("--machines", nargs="*")
    parser.add_argument("--planned", help="a folder that planned.py wrote: of its plans alone, which are not searched for again")
    parser.add_argument("--verbose", action="store_true", help="names climbs that found no partition to start from")
    options = parser.parse_args()
    if options.planned and options.machines:
        parser.error("--planned has machines of its own")
    rng = random.Random(options.seed)
    examples = [name for name in options.examples if name.endswith(".nap")]
    plans, jobs = {}, []
    for number in range(options.climbs):
        example = os.path.join(ROOT, "examples", rng.choice(examples))
        machine = rng.choice(shared.machines_of(example) if options.planned else options.machines or shared.MACHINES)
        if (example, machine) not in plans:
            known = shared.read(options.planned, example, machine, "json")
            plans[example, machine] = json.loads(known) if known else analyze(options, example, machine)
        jobs.append((example, machine, "smem", plans[example, machine], options.seed * 100003 + number))
    won, failed, run = {}, 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, done in zip(jobs, pool.map(lambda job: climb(options, job), jobs)):
            if done.time is None:
                if options.verbose:
                    print("no start: %s on %s" % (os.path.basename(job[0]), job[1]))
                continue
            run += 1
            key, planned = job[:2], seconds(job[3])
            if done.time < planned * (1 - TOLERANCE) and done.time < won.get(key, (planned, ""))[0]:
                won[key] = (done.time, done.text(done.best))
    for (example, machine), (time, text) in sorted(won.items()):
        plan = plans[example, machine]
        planned, most = seconds(plan), allowed(plan)
        wrong = most is not None and time < planned * (1 - most)
        failed += wrong
        print("%-5s %s on %s: %.4g us by hand, %.4g us planned (%s): %s" % (
            "WRONG" if wrong else "", os.path.basename(example), machine, 1e6 * time, 1e6 * planned,
            "optimal" if plan["search"]["optimal"] else "gap %s" % plan["search"]["gap"], text))
    print("%d climbs of %d steps on %d pairs of a diagram and a machine: %d plans beaten, %d of them against what is said" % (
        run, options.steps, len(plans), len(won), failed))
    if run < options.climbs / 2:
        sys.exit("more than half of the climbs found no partition to start from")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
