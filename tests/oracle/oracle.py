#!/usr/bin/env python3
"""An oracle for napkin: random diagrams, read and evaluated by a program of their own, against what napkin makes of them.

    tests/oracle/oracle.py --count 2000 --seed 7 --jobs 2      any number of diagrams
    tests/oracle/oracle.py --case case.nap --machine toy --partition 'stream x 3 at smem' --sizes x=5 --data huge

It needs python3 with numpy, a compiler of C++, and napkin built in build/release (--napkin says where else).
README.md beside it says what is checked, how far results may be off, and what is left out.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import shutil
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: python3-numpy is not installed")
    sys.exit(77)

import check
import data
import derived
import diagrams
import fullest
import kernels
import partitions
import shrink
import transfers
from language import parse, print_diagram
from meaning import sizes_of

BATCH = 8  # diagrams whose kernels are compiled as one unit


class Run:
    """What all batches share."""

    def __init__(self, options):
        self.options = options
        self.tools = kernels.Tools(options.napkin, options.compiler, options.profiles, options.folder)

    def case(self, seed):
        rng = random.Random(seed)
        case = check.Case(diagrams.make(rng, self.options.features), seed)
        return case, rng


def check_batch(run, seeds):
    """Counts and failures of some diagrams."""
    counts, failures, jobs = collections.Counter(), [], []
    folder = os.path.join(run.options.folder, "batch%d" % seeds[0])
    for seed in seeds:
        case, rng = run.case(seed)
        counts["diagrams"] += 1
        try:
            prepare(run, case, rng, folder, counts, failures, jobs)
        except Exception:  # of this program: say for which diagram
            failures.append(case.failure("the oracle itself", traceback.format_exc()))
    run_jobs(run, jobs, folder, counts, failures)
    shutil.rmtree(folder, ignore_errors=True)
    return counts, failures


def prepare(run, case, rng, folder, counts, failures, jobs):
    """Derives a diagram, draws its partitions, counts transfers, walks memories, and emits the kernels that are to run."""
    failed = check.read_derivation(case, run.tools)
    if failed:
        failures.append(failed)
        return
    failures += fullest.check(case, random.Random(case.seed), run.tools, counts, run.options.walks)
    if run.options.only == "memory":
        return
    failures += derived.check(case, rng, counts)
    failures += transfers.check(case, random.Random(case.seed), run.tools, counts, run.options.partitions)
    check.draw_plans(case, run.options.partitions, rng)
    all_sizes = check.draw_sizes(case, run.options.sizes, rng)
    kinds = [rng.choice(data.KINDS) for _ in all_sizes]
    sanitized = rng.random() < run.options.sanitized and bool(run.tools.sanitizer)
    for at, plan in enumerate(case.plans):
        kernel = check.emit(case, plan, "d%dp%d" % (case.seed, at), folder, run.tools)
        if isinstance(kernel, check.Failure):
            failures.append(kernel)
        counts["partitions refused" if kernel is None else "partitions"] += 1
        if isinstance(kernel, kernels.Kernel):
            made = check.jobs_of(case, plan, kernel, all_sizes, kinds)
            for job in made:
                job.sanitized = sanitized
            jobs += made


def run_jobs(run, jobs, folder, counts, failures):
    for sanitized in (False, True):
        some = [job for job in jobs if job.sanitized == sanitized]
        if some:
            failures += run_together(run, some, os.path.join(folder, "sanitized" if sanitized else "plain"), sanitized, counts)


def run_together(run, jobs, base, sanitized, counts):
    """Compiles and calls the kernels of all jobs; where the compiler complains of one, each by itself."""
    together = {job.kernel.name: job.kernel for job in jobs}
    complaint = run.tools.compile(list(together.values()), base + ".so", sanitized)
    if complaint:
        if len(together) == 1:
            return [jobs[0].failure("does not compile", complaint[:400])]
        return [failed for name in together
                for failed in run_together(run, [j for j in jobs if j.kernel.name == name], base + name, sanitized, counts)]
    calls = []
    for job in jobs:
        inputs, _ = job.case.meaning(job.sizes, job.kind)
        calls.append((base + ".so", job.kernel.name, job.passed,
                      kernels.arguments_of(job.kernel, job.case.diagram, job.sizes, inputs)))
    failures = []
    for job, result in zip(jobs, run.tools.call_all(calls, base, sanitized)):
        failed, ran = check.judge(job, result)
        counts["runs" if ran else "runs refused"] += 1
        counts["runs under sanitizers"] += ran and sanitized
        failures += [failed] if failed else []
    return failures


def check_one(run, f):
    """Whether a case fails: its failure or None."""
    case = check.Case(f.diagram, f.seed)
    failed = check.read_derivation(case, run.tools)
    if failed or f.what in ("refused",) or f.what.startswith("derive ends"):
        return failed
    if f.what in derived.WHAT:
        return next(iter(derived.check(case, random.Random(f.seed), collections.Counter(), f.wire)), None)
    if f.what in fullest.WHAT:
        return fullest.check_one(f, run.tools)
    plan = (f.machine, f.labels)
    if f.what in transfers.WHAT:
        return next(iter(transfers.check(case, random.Random(f.seed), run.tools, collections.Counter(), run.options.partitions)), None)
    folder = tempfile.mkdtemp(dir=run.options.folder)
    try:
        kernel = check.emit(case, plan, "one", folder, run.tools)
        if not isinstance(kernel, kernels.Kernel):
            return kernel
        jobs = check.jobs_of(case, plan, kernel, [f.sizes or case.planned], [f.kind or "ordinary"])
        for job in jobs:
            job.sanitized = f.sanitized
        failures = []
        run_jobs(run, jobs, folder, collections.Counter(), failures)
        return failures[0] if failures else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(run, f, at):
    """Prints a failure, made smaller, with the commands that show it."""
    if run.options.shrink > 0:
        f = shrink.shrink(f, lambda smaller: check_one(run, smaller), run.options.shrink)
    path = os.path.join(run.options.keep or run.options.folder, "failure_%d_%d.nap" % (f.seed, at))
    with open(path, "w") as out:
        out.write(print_diagram(f.diagram))
    print("\n%s: %s\n" % (f.what, f.words))
    print("    " + print_diagram(f.diagram).rstrip().replace("\n", "\n    ") + "\n")
    machine = f.machine
    if "\n" in machine:  # a profile of its own
        machine = path.replace(".nap", ".yaml")
        with open(machine, "w") as out:
            out.write(f.machine)
        print("    " + f.machine.rstrip().replace("\n", "\n    ") + "\n")
    ours = ["tests/oracle/oracle.py --case %s --seed %d --what '%s'" % (path, f.seed, f.what)]
    if f.labels or machine != f.machine:
        line = "--partition '%s'" % partitions.text_of(f.labels) if f.labels else ""
        model = "ideal" if "ideal model" in f.machine else "machine"
        target = "--target %s --objective transfers --model %s" % (machine, model)
        if machine == f.machine:
            target = " ".join(word if " " not in word else "'%s'" % word for word in partitions.MACHINES[machine][0])
        command = "analyze %s --format json" if f.what in transfers.WHAT + fullest.WHAT else "emit cpp %s -o out"
        print("  napkin " + command % path + " %s %s" % (target, line))
        ours.append("--machine %s %s" % (machine, line))
    else:
        print("  napkin derive " + path)
    if f.sizes:
        ours.append("--sizes " + ",".join("%s=%d" % pair for pair in f.sizes.items()))
    if f.kind:
        ours.append("--data '%s'" % f.kind)
    if f.wire:
        ours.append('--wire "%s"' % f.wire)
    print("  " + " ".join(ours + (["--sanitized 1"] if f.sanitized else [])))
    sys.stdout.flush()


def run_case(run):
    """The one case of --case: prints what is wrong with it."""
    o = run.options
    with open(o.case) as text:
        diagram = parse(text.read())
    sizes = sizes_of(diagram, dict((a, int(n)) for a, n in (pair.split("=") for pair in o.sizes_given.split(",") if pair)))
    labels = partitions.parse(o.partition) if o.partition else []
    f = check.Failure(o.what, "", diagram, o.machine, labels, sizes, o.data, o.seed, o.wire, o.sanitized > 0)
    found = check_one(run, f)
    print("%s: %s" % (found.what, found.words) if found else "nothing wrong")
    return 1 if found else 0


def read_options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(HERE))
    p.add_argument("--napkin", default=os.path.join(root, "build", "release", "napkin"))
    p.add_argument("--profiles", default=os.path.join(root, "hardware_profiles"))
    p.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    p.add_argument("--folder", help="where kernels are compiled; a temporary one is removed")
    p.add_argument("--keep", help="where the files of failures are written")
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--diagrams", type=lambda text: [int(one) for one in text.split(",")], help="these alone, by the numbers that failures have")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--partitions", type=int, default=4, help="of each diagram")
    p.add_argument("--walks", type=int, default=2, help="partitions of each diagram on machines of their own, whose memories are walked")
    p.add_argument("--only", choices=["memory"], help="nothing else is checked")
    p.add_argument("--sizes", dest="sizes", default="5", help="how many beside the planned ones; with --case the sizes, x=5,q=3")
    p.add_argument("--sanitized", type=float, default=0.1, help="share of the diagrams whose kernels run under sanitizers")
    p.add_argument("--shrink", type=float, default=60, help="seconds to make a failure smaller; 0 leaves it")
    p.add_argument("--failures", type=int, default=5, help="how many are made smaller and printed")
    p.add_argument("--with", dest="features", action="append", default=[], help="a feature that is left out: " + ", ".join(diagrams.LEFT_OUT))
    p.add_argument("--self-test", action="store_true", help="plants errors in emitted kernels and asks whether they are noticed")
    p.add_argument("--case")
    p.add_argument("--what", default="")
    p.add_argument("--machine", default="avx2", help="one of %s, or the profile of a failure" % ", ".join(partitions.MACHINES))
    p.add_argument("--partition", default="")
    p.add_argument("--data", default="ordinary", choices=data.KINDS)
    p.add_argument("--wire", default="")
    options = p.parse_args()
    options.sizes_given = options.sizes if options.case and "=" in options.sizes else ""
    options.sizes = 5 if options.sizes_given else int(options.sizes)
    return options


def check_all(run):
    """All batches, some at a time; returns all failures and counts."""
    o = run.options
    seeds = o.diagrams or list(range(o.seed * 1000000, o.seed * 1000000 + o.count))
    batches = [seeds[at:at + BATCH] for at in range(0, len(seeds), BATCH)]
    counts, failures = collections.Counter(), []
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        for found, failed in pool.map(check_batch, [run] * len(batches), batches):
            counts += found
            failures += failed
    return counts, failures


def main():
    options = read_options()
    check.left_out -= set(options.features)
    temporary = None if options.folder else tempfile.mkdtemp(prefix="napkin_oracle_")
    options.folder = options.folder or temporary
    run = Run(options)
    try:
        run.tools.prepare()
        if options.case:
            return run_case(run)
        if options.self_test:
            import planted
            return planted.self_test(run)
        counts, failures = check_all(run)
        print(", ".join("%d %s" % (counts[name], name) for name in sorted(counts)))
        first = {}
        for f in failures:
            if (f.seed, f.what) not in first:
                print("diagram %d: %s: %s" % (f.seed, f.what, f.words[:150].replace("\n", " ")))
            first.setdefault((f.seed, f.what), f)
        for at, f in enumerate(list(first.values())[:options.failures]):
            report(run, f, at)
        print("%d diagrams of %d failed" % (len({f.seed for f in failures}), counts["diagrams"]))
        done = counts["memory: partitions walked" if options.only else "runs"]
        return 1 if failures or not done else 0
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
