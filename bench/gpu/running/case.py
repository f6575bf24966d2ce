#!/usr/bin/env python3
"""One case in a process of its own: `case.py JOB.json` checks a kernel, or checks and times it.

Every line of standard output is JSON: a stage that begins, so that a hang says where it is, and at last the result.
"""
import json
import math
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from library import (GUARD, OTHER_PATH, POISON, TYPES, WRONG_SIZES, Failed, Kernel, Reference, Support, bytes_of,
                     count_of, range_of)

AHEAD = 50_000_000  # clocks that the device idles while launches queue up
WARM_UP, MOST_LAUNCHES, MOST_SETS = 3, 50, 16


def say(**words):
    print(json.dumps(words), flush=True)


class Refused(Failed):
    """Sizes for which the kernels do not hold, as they say themselves."""


class Case:
    def __init__(self, job):
        self.job, self.source, self.sizes = job, job["source"], job["run"]["sizes"]
        say(stage="begin")
        self.support = Support(job["support"])
        self.kernel = Kernel(job["library"], self.source)
        self.inputs, self.outputs = self.source["call"]["inputs"], self.source["call"]["outputs"]
        self.problems, self.result = [], {"device": self.support.device["name"]}

    def draw(self, seed):
        """A set of inputs, with guards behind them that are no numbers of theirs."""
        found = []
        for number, array in enumerate(self.inputs):
            at = self.support.guarded(bytes_of(array, self.sizes))
            low, high = range_of(array, self.source["densities"])
            error = self.support.c.support_fill(at, TYPES.index(array["type"]), count_of(array, self.sizes),
                                                seed * 100 + number,
                                                low, high)
            self.support.check(error, f"filling {array['name']}")
            found.append(at)
        return found

    def allocate(self):
        say(stage="allocate")
        self.given = self.draw(1)
        self.made = [self.support.guarded(bytes_of(array, self.sizes)) for array in self.outputs]
        self.workspace_bytes = self.kernel.workspace(self.sizes)
        self.workspace = self.support.guarded(self.workspace_bytes)
        self.launch = self.launcher(self.given)
        self.poison()

    def launcher(self, inputs):
        return self.kernel.launcher(self.sizes, inputs, self.made, self.workspace, self.support.stream)

    def poison(self):
        for at, array in zip(self.made, self.outputs):
            self.support.check(self.support.c.support_set(at, POISON, bytes_of(array, self.sizes)), "cudaMemset")
        self.support.check(self.support.c.support_set(self.workspace, POISON, self.workspace_bytes), "cudaMemset")
        self.support.finish("poisoning")

    def run_once(self):
        say(stage="launch")
        error = self.launch()
        if error == OTHER_PATH:
            raise Failed(f"the launch would not take the path `{self.job['run']['path']}`: "
                         f"{self.kernel.says('fallback_reason') or 'it gives no reason'}")
        if error == WRONG_SIZES:
            raise Refused(f"the launch refuses the sizes {self.sizes}")
        self.support.check(error, "the launch")
        say(stage="kernels")
        self.support.finish("the kernels")

    def judge_path(self):
        """Which path ran, and whether it is the one that was to run."""
        wanted, took = self.job["run"]["path"], self.kernel.says("last_path")
        self.result["path"], planned = took, self.kernel.says("planned_path")
        if took is None:
            self.result["note"] = "the library does not say which path ran"
            return
        if planned is not None and planned != self.source["planned_path"]:
            self.problems.append(f"the library plans `{planned}`, the manifest `{self.source['planned_path']}`")
        if wanted != "any" and took != wanted:
            self.problems.append(f"the path `{took}` ran instead of `{wanted}`: {self.kernel.says('fallback_reason')}")
        if took != planned and self.kernel.says("fallback_expected") == 0:
            self.problems.append(f"the path `{took}` was not to be expected: {self.kernel.says('fallback_reason')}")

    def judge_guards(self):
        for at, array in zip(self.made, self.outputs):
            self.problems += [f"{array['name']}: {words}"
                              for words in self.support.intact(at, bytes_of(array, self.sizes))]
        self.problems += [f"workspace: {words}" for words in self.support.intact(self.workspace, self.workspace_bytes)]

    def judge_numbers(self):
        say(stage="reference")
        name = self.source["name"]
        reference = Reference(self.job["reference"], name, self.job["about"], self.sizes, self.support)
        most = [min(1.0, max(0.05, 16 * one)) for one in self.source["tolerances"]]
        found, share = reference.compare(self.outputs, self.made, self.given, most, self.job["reference_s"])
        self.result["compared"], self.result["outputs"] = share, []
        for array, allowed, sums in zip(self.outputs, self.source["tolerances"], found):
            self.judge_output(array, allowed, list(sums))

    def judge_output(self, array, allowed, sums):
        square, norm, compared, wrong, missing, undefined, worst, at = sums
        error = math.sqrt(square / norm) if norm else math.sqrt(square)
        place = self.place(array, int(at))
        self.result["outputs"].append({"name": array["name"], "error": error, "allowed": allowed,
                                       "worst": worst if math.isfinite(worst) else None,
                                       "worst_at": place, "values": int(compared), "wrong": int(wrong),
                                       "no_numbers": int(missing), "undefined": int(undefined)})
        name = array["name"]
        if missing:
            self.problems.append(f"{name}: {int(missing)} of {int(compared)} values are no number (not written?), one "
                                 f"at {place}")
        elif wrong or error > allowed:
            self.problems.append(f"{name}: {int(wrong)} of {int(compared)} values are wrong, the worst by "
                                 f"{worst:.3g} of its row at {place}; relative error {error:.2e}, allowed {allowed:g}")

    def place(self, array, at):
        found = []
        for axis in reversed(array["axes"]):
            at, position = divmod(at, self.sizes[axis])
            found.insert(0, f"{axis} {position}")
        return ", ".join(found)

    def judge_repeat(self):
        """A second launch gives the same bits."""
        say(stage="repeat")
        copies = []
        for at, array in zip(self.made, self.outputs):
            copies.append(self.support.allocate(bytes_of(array, self.sizes)))
            self.support.check(self.support.c.support_copy(copies[-1], at, bytes_of(array, self.sizes)), "copying")
        self.support.finish("copying")
        self.poison()
        self.run_once()
        for copy, at, array in zip(copies, self.made, self.outputs):
            differ = self.support.c.support_differ(copy, at, bytes_of(array, self.sizes))
            if differ:
                self.problems.append(f"{array['name']}: {differ} bytes of a second launch are others")
            self.support.c.support_free(copy)

    def judge_launches(self):
        """Counts the nodes of a captured launch."""
        say(stage="count")
        import ctypes
        kernels, others = ctypes.c_longlong(), ctypes.c_longlong()
        error = self.support.c.support_count_begin() or self.launch()
        error = self.support.c.support_count_end(ctypes.byref(kernels), ctypes.byref(others)) or error
        self.result["launches"] = kernels.value if not error else None
        planned = len(self.source["planned_path"].split(","))
        if error:
            self.problems.append(f"a launch cannot be captured: {self.support.text(error)}")
        elif kernels.value != planned:
            self.problems.append(f"{kernels.value} kernels were launched, {planned} are planned")

    def check(self):
        self.allocate()
        self.run_once()
        left = self.support.c.support_left_behind()
        if left:
            self.problems.append(f"the launch left an error behind: {self.support.text(left)}")
        self.judge_path()
        self.judge_guards()
        self.judge_numbers()
        if not self.job.get("brief"):
            self.judge_repeat()
            self.judge_launches()

    # Times

    def sets(self):
        """So many inputs that twice the second-level cache is read before any comes again, if memory allows."""
        one = sum(bytes_of(array, self.sizes) for array in self.inputs) + 2 * GUARD * len(self.inputs)
        wanted = -(-2 * self.support.device["cache_bytes"] // one)
        fit = max(1, self.support.c.support_free_bytes() // 2 // one)
        return [self.given] + [self.draw(seed) for seed in range(2, min(MOST_SETS, wanted, fit) + 1)]

    def time(self):
        say(stage="time")
        launches = [self.launcher(inputs) for inputs in self.sets()]
        for number in range(WARM_UP):
            self.support.check(launches[number % len(launches)](), "the launch")
        self.support.finish("warming up")
        seconds = self.medians(launches)
        self.result |= {"seconds": statistics.median(seconds), "least_s": min(seconds), "launches_timed": len(seconds),
                        "host_s": self.host_cost(launches), "input_sets": len(launches)}
        self.under_load(launches)

    def medians(self, launches):
        predicted = self.source["plan"]["predicted_s"] or 1e-3
        count = max(5, min(MOST_LAUNCHES, int(self.job["time_s"] / predicted)))
        self.support.check(self.support.c.support_spin(AHEAD), "spinning")
        for number in range(count):
            self.support.c.support_event(2 * number)
            self.support.check(launches[number % len(launches)](), "the launch")
            self.support.c.support_event(2 * number + 1)
        self.support.finish("the kernels")
        return [self.support.c.support_elapsed(2 * number, 2 * number + 1) for number in range(count)]

    def host_cost(self, launches):
        """Seconds of the host for a launch, with nothing that waits for the device."""
        count, began = 20, time.perf_counter()
        for number in range(count):
            launches[number % len(launches)]()
        took = (time.perf_counter() - began) / count
        self.support.finish("the kernels")
        return took

    def under_load(self, launches):
        """Launches one behind the other for a while; the caller knows clocks and power of the window."""
        say(stage="load")
        batch = max(1, int(0.02 / max(self.result["seconds"], 1e-6)))
        began, number = time.time(), 0
        self.support.c.support_event(0)
        while time.time() - began < self.job["load_s"]:
            for _ in range(batch):
                launches[number % len(launches)]()
                number += 1
            self.support.finish("the kernels")
        self.support.c.support_event(1)
        self.support.finish("the kernels")
        self.result["load"] = {"window": [began, time.time()], "launches": number,
                               "seconds": self.support.c.support_elapsed(0, 1) / number}


def copy(job):
    """Bytes read and written in a second by a copy of 1 GiB, which is what rows are held against."""
    support, size = Support(job["support"]), job["bytes"]
    a, b = support.allocate(size), support.allocate(size)
    for number in range(12):
        support.c.support_event(number)
        support.check(support.c.support_copy(b, a, size), "copying")
    support.c.support_event(12)
    support.finish("copying")
    took = statistics.median(support.c.support_elapsed(number, number + 1) for number in range(2, 12))
    say(result={"status": "good", "device": support.device, "bytes_per_s": 2 * size / max(took, 1e-9)})


def main():
    job = json.load(open(sys.argv[1]))
    case = None
    try:
        if job["kind"] == "copy":
            return copy(job)
        case = Case(job)
        if job["kind"] == "launch":
            case.allocate()
            case.run_once()
        else:
            case.check()
        if job["kind"] == "time" and not case.problems:
            case.time()
    except Refused as problem:
        if not job["run"]["id"].endswith(("/small", "/planned")):
            return say(result={"status": "refused", "problems": [str(problem)]})
        case.problems.append(str(problem))
    except Failed as problem:
        case and case.problems.append(str(problem))
        if case is None:
            return say(result={"status": "failed", "problems": [str(problem)]})
    say(result={"status": "wrong" if case.problems else "good", "problems": case.problems, **case.result})


if __name__ == "__main__":
    main()
