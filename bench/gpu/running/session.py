"""One run from begin to end: checks side by side and times one after another, within the time that there is."""
import concurrent.futures
import json
import re
import signal
import threading
import time

import counters
import device
import records
import sampling
import table
from steps import CHECKS_AT_ONCE

ENDING_S = 4  # kept for the table and the page
ASIDE = ("check", "sanitize")  # steps that need not be alone on the device
PROBES, PROBE_S = 3, 20


class Session:
    def __init__(self, options, manifest, tools, book, builder, runner):
        self.options, self.manifest, self.tools = options, manifest, tools
        self.book, self.builder, self.runner = book, builder, runner
        self.end = time.monotonic() + 60 * options.minutes - ENDING_S
        self.sampler = sampling.Sampler(tools["nvidia-smi"], options.output)
        self.dead, self.probing, self.background = "", threading.Lock(), []
        self.asking = threading.Thread(target=lambda: book.set(packages=device.packages()), daemon=True)

    def left(self):
        return self.end - time.monotonic()

    def interrupt(self, *_):
        """Nothing that was begun outlives the run, and what was found is kept."""
        self.dead = self.dead or "interrupted"
        self.builder.stop()
        self.runner.stop()

    def run(self, wanted):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.interrupt)
        todo = [step for step in wanted if not (self.options.resume and self.book.finished(step.name))]
        for step in todo:
            for key in step.needs:
                self.builder.ask(key)
        self.asking.start()
        for round_ in sorted({step.round for step in todo}):
            self.run_round([step for step in todo if step.round == round_])
            table.write(self.book.data, self.options.output)
        return self.close(todo)

    def run_round(self, todo):
        aside = [step for step in todo if step.kind in ASIDE]
        with concurrent.futures.ThreadPoolExecutor(CHECKS_AT_ONCE) as pool:
            list(pool.map(self.attempt, aside))
        rivals = [step for step in todo if step.kind in ("rivals", "triton")]
        for step in todo:
            if step.kind == "smoke":
                self.begin_aside(step)
            elif step.kind not in ASIDE and step not in rivals:
                self.attempt(step)
        for kind in ("rivals", "triton"):
            self.run_rivals([step for step in rivals if step.kind == kind])

    def attempt(self, step):
        """Runs a step, or leaves it out and says why."""
        why = self.hinders(step)
        if why:
            return self.book.leave_out(step.name, why)
        if not self.builder.ready(step.needs, self.left() - step.least_s):
            why = self.builder.why(step.needs)
            if "in time" in why:
                return self.book.leave_out(step.name, why)
            return self.book.step(step.name, {"status": "failed", "problems": [why]})
        given = self.limit(step)
        try:
            result = getattr(self, "do_" + step.kind)(step)
        except Exception as problem:  # of this program: the other steps go on
            result = {"status": "failed", "problems": [f"first_run itself: {type(problem).__name__}: {problem}"]}
        cut = self.cut_short(result, given < step.limit_s)
        if cut:
            return self.book.leave_out(step.name, cut)
        self.book.step(step.name, result)

    def cut_short(self, result, less):
        """Why a step that was killed says nothing of the kernel, or an empty text."""
        if result["status"] not in ("hung", "crashed"):
            return ""
        if self.dead == "interrupted":
            return self.dead
        return "no time left to end it" if less and result["status"] == "hung" else ""

    def hinders(self, step):
        if self.dead:
            return self.dead
        if self.left() < step.least_s:
            return "no time left"
        if step.kind in ("time", "count"):
            bad = self.failed_checks(step.job["run"]["source"])
            return f"its checks failed: {', '.join(bad)}" if bad else ""
        return ""

    def failed_checks(self, source):
        """Checks after which a source is not timed: the small one, if it is not good, and whatever hung or crashed. A
        time compares its own results besides."""
        steps = self.book.data["steps"].items()
        return [name for name, found in steps if name.startswith(f"check {source}/") and
                (found["status"] in ("hung", "crashed") or (name.endswith("/small") and found["status"] != "good"))]

    def limit(self, step):
        return max(1.0, min(step.limit_s, self.left()))

    def demanded(self, step):
        path = step.job["run"]["path"]
        return {} if path == "any" else {"NAPKIN_DEMAND_PATH": "planned"}

    def do_copy(self, step):
        result = self.runner.run("copy", "case.py", step.job, self.limit(step))
        if result["status"] == "good":
            self.book.set(device=result["device"], copy_bytes_per_s=result["bytes_per_s"])
        else:
            self.dead = "no device: " + "; ".join(result["problems"])
        return result

    def do_check(self, step):
        result = self.runner.run(step.name, "case.py", step.job, self.limit(step), self.demanded(step))
        return self.after(step, result)

    def do_time(self, step):
        ran = self.runner.run(step.name, "case.py", step.job, self.limit(step), self.demanded(step))
        result = self.after(step, ran)
        if "load" in result:
            result["load"]["clocks"] = self.sampler.window(*result["load"]["window"])
        if result["status"] == "hung" and not self.dead:
            result["trapped"] = self.run_trapping(step)
        return result

    def run_trapping(self, step):
        """A hang once more, in the build that traps and says where."""
        key = f"debug {step.job['source']['id']}"
        if not self.builder.ready([key], self.left() - step.least_s):
            return None
        job = {**step.job, "kind": "check", "brief": True, "library": str(self.builder.file_of(key))}
        again = self.runner.run(step.name + " trapping", "case.py", job, self.limit(step), self.demanded(step))
        return {key: again.get(key) for key in ("status", "problems", "printed", "said")}

    def after(self, step, result):
        """A hang or a crash may have taken the device along: asks before anything else runs."""
        if result["status"] in ("hung", "crashed") or "illegal" in " ".join(result.get("problems", [])):
            with self.probing:
                self.probe(step.name)
        return result

    def probe(self, name):
        job = {"kind": "copy", "support": str(self.builder.file_of("support")), "bytes": 1 << 20}
        for number in range(PROBES):
            if self.left() < 1 or self.dead:
                return
            found = self.runner.run(f"probe {name} {number}", "case.py", job, min(PROBE_S, max(1.0, self.left())))
            if found["status"] == "good":
                return
            time.sleep(1)
        self.dead = f"the device no longer answers after `{name}`"

    def do_sanitize(self, step):
        tool = self.tools["compute-sanitizer"]
        if not tool:
            return {"status": "not there", "problems": ["compute-sanitizer is not there"]}
        before = [tool, "--tool", "memcheck", "--target-processes", "all"]
        result = self.runner.run(step.name, "case.py", step.job, self.limit(step), self.demanded(step), before)
        said = " ".join(result.get("printed", [])) + result.get("said", "")
        errors = re.findall(r"ERROR SUMMARY: (\d+) error", said)
        if not errors and result["status"] == "good":
            result |= {"status": "failed", "problems": ["compute-sanitizer gave no summary"]}
        elif any(int(count) for count in errors):
            result |= {"status": "wrong", "problems": [*result.get("problems", []),
                                                       f"compute-sanitizer counts {errors[-1]} errors"]}
        return result

    def do_count(self, step):
        if not self.tools["ncu"]:
            return {"status": "not there", "problems": ["ncu is not there"]}
        source, log = step.job["source"], self.options.output / "steps" / f"{step.name.replace(' ', '_')}.csv"
        before = counters.words(self.tools["ncu"], source["name"], len(source["planned_path"].split(",")), log)
        result = self.runner.run(step.name, "case.py", step.job, self.limit(step), self.demanded(step), before)
        result["counters"] = counters.of_log(log)
        if result["status"] == "good" and not result["counters"]:
            said = log.read_text().strip().splitlines() if log.exists() else []
            result |= {"status": "failed", "problems": ["ncu counts nothing: " + "; ".join(said[-2:])[:300]]}
        return self.after(step, result)

    def do_micro(self, step):
        measured = {}

        def take(line):
            if line.startswith('{"measure"'):
                one = json.loads(line)
                measured[one.pop("measure")] = one
                self.book.set(micro={**self.book.data.get("micro", {}), **measured})

        result = self.runner.run(step.name, "micro.py", step.job, self.limit(step), on_line=take)
        for one in measured.values():
            one["clocks"] = self.sampler.window(*one["window"])
        self.book.set(micro={**self.book.data.get("micro", {}), **measured})
        return self.after(step, result)

    # Others, and PyTorch

    def has_torch(self):
        """Importing it takes seconds, in which other steps run."""
        self.asking.join(timeout=max(0.1, self.left()))
        return bool(self.book.data.get("packages", {}).get("torch"))

    def run_rivals(self, todo):
        """All of a round in one process, which imports PyTorch once; where it ends early, the rest in another."""
        todo = [step for step in todo if not self.refused(step)]
        while todo:
            asked = sum(step.limit_s for step in todo) + 30
            taken, limit = {}, max(1.0, min(asked, self.left()))
            job = {"cases": [{**step.job, "name": step.name} for step in todo]}
            result = self.runner.run(f"{todo[0].kind} {len(todo)} from {todo[0].name}", "rivals.py", job, limit,
                                     on_line=lambda line: self.take_rival(line, taken))
            todo = [step for step in todo if step.name not in taken]
            if not todo or result["status"] == "good":
                return
            cut = self.cut_short(result, limit < asked)
            if cut:
                return [self.book.leave_out(step.name, cut) for step in todo]
            self.book.step(todo[0].name, self.after(todo[0], result))
            todo = [step for step in todo[1:] if not self.refused(step)]

    def refused(self, step):
        """Whether it is left out; then that is said."""
        why = self.hinders(step) or ("" if self.has_torch() else "PyTorch is not there")
        if not why and not self.builder.ready(step.needs, self.left() - step.least_s):
            why = self.builder.why(step.needs)
        source = step.job["run"]["source"]
        bad = [] if why else [name for name in self.failed_checks(source)]
        why = why or (f"its checks failed: {', '.join(bad)}" if bad else "")
        if why:
            self.book.leave_out(step.name, why)
        return why

    def take_rival(self, line, taken):
        if line.startswith('{"rival"'):
            one = json.loads(line)
            name = one.pop("rival")
            taken[name] = one
            for column in one["columns"].values():
                if "window" in column:
                    column["clocks"] = self.sampler.window(*column["window"])
            self.book.step(name, one)

    def begin_aside(self, step):
        """The extension of PyTorch builds beside everything else, for it takes a minute."""
        if not self.has_torch():
            return self.book.leave_out(step.name, "PyTorch is not there")
        thread = threading.Thread(target=self.attempt, args=(step,), daemon=True)
        thread.start()
        self.background.append((step, thread))

    def do_smoke(self, step):
        return self.runner.run(step.name, "smoke.py", step.job, self.limit(step), before=["nice"])

    # The end

    def close(self, todo):
        for step, thread in self.background:
            thread.join(timeout=max(0.1, self.left()))
        self.builder.stop()
        self.sampler.stop()
        for step in todo:
            if step.name not in self.book.data["steps"]:
                self.book.data["left_out"].setdefault(step.name, "no time left")
        self.book.set(ended=records.now())
        table.write(self.book.data, self.options.output)
        return self.say_what_was()

    def say_what_was(self):
        states = [one["status"] for one in self.book.data["steps"].values()]
        bad = len([one for one in states if one not in ("good", "not there", "refused")])
        reasons = {}
        for name, why in self.book.data["left_out"].items():
            reasons.setdefault(why, []).append(name)
        self.book.say(f"{states.count('good')} good, {bad} not, {len(self.book.data['left_out'])} left out")
        for why, names in reasons.items():
            self.book.say(f"left out, {why}: {', '.join(names[:12])}" + (f" and {len(names) - 12} more"
                                                                         if len(names) > 12 else ""))
        return 3 if self.dead else 1 if bad else 0
