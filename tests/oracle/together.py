"""Random diagrams, a dozen of them compiled at once, and their kernels run against their meaning in numpy.

A kind of case is a class. Its object has `seed`, `text`, `kernel` once there is one, `described()` for a complaint, `is_special()`,
`prepare(tools, folder)`, which emits and says what is wrong, `calls(library)` and `judged(sizes, kind, inputs, result)`.
"""
import argparse
import multiprocessing
import os
import tempfile

from kernels import Tools

TOGETHER = 12  # kernels that are compiled at once
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(tools, cases, library, tally):
    """What is wrong with each case, where something is."""
    wrong = tools.compile([case.kernel for case in cases], library) if cases else None
    if wrong:
        return [(cases[0], "it does not compile: " + wrong[:2000])]
    calls = [(case, *call) for case in cases for call in case.calls(library)]
    found = {}
    for (case, sizes, kind, inputs, _), result in zip(calls, tools.call_all([call[-1] for call in calls], library) if calls else []):
        words, ran = case.judged(sizes, kind, inputs, result)
        tally["compared" if ran else "refused"] += 1
        if words:
            found.setdefault(case.seed, (case, words))
    return list(found.values())


def worked(job):
    kind, options, seeds = job
    tally = {"special": 0, "compared": 0, "refused": 0, "failed": 0}
    with tempfile.TemporaryDirectory(prefix="napkin_oracle_") as folder:
        tools = Tools(os.path.abspath(options.napkin), options.compiler, os.path.join(ROOT, "hardware_profiles"), folder)
        tools.prepare()
        for at in range(0, len(seeds), TOGETHER):
            cases, wrong = [kind(seed, tools) for seed in seeds[at:at + TOGETHER]], []
            for case in cases:
                words = case.prepare(tools, folder)
                tally["special"] += case.is_special()
                if words:
                    wrong.append((case, words))
            wrong += run(tools, [case for case in cases if case.kernel], os.path.join(folder, "unit%d.so" % at), tally)
            for case, words in wrong:
                tally["failed"] += 1
                print("seed %d, %s: %s\n%s" % (case.seed, case.described(), words, case.text), flush=True)
    return tally


def main(kind, doc, special):
    """`special` says what the cases are that are counted by themselves."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--napkin", default=os.path.join(ROOT, "build", "release", "napkin"))
    p.add_argument("--compiler", default="c++")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1)
    options = p.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    with multiprocessing.Pool(options.jobs) as pool:
        parts = pool.map(worked, [(kind, options, seeds[at::options.jobs]) for at in range(options.jobs)])
    tally = {key: sum(part[key] for part in parts) for key in parts[0]}
    print("%d diagrams, %d %s, %d results compared, %d sizes refused, %d wrong"
          % (options.count, tally["special"], special, tally["compared"], tally["refused"], tally["failed"]))
    return 1 if tally["failed"] or not tally["compared"] else 0
