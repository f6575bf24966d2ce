"""Runs one step in a process of its own, with a limit; a hang or a crash is a result like any other."""
import json
import os
import pathlib
import subprocess
import sys
import time

from building import kill

HERE = pathlib.Path(__file__).resolve().parent


class Runner:
    def __init__(self, folder):
        self.folder, self.alive = folder, set()
        self.environment = {name: value for name, value in os.environ.items() if name != "NAPKIN_DEMAND_PATH"}
        (folder / "steps").mkdir(parents=True, exist_ok=True)

    def run(self, name, script, job, limit_s, more=None, before=(), on_line=None):
        """The last result that the script printed, with how it ended; `before` are words of a command around it."""
        base = self.folder / "steps" / name.replace("/", "_").replace(" ", "_")
        base.with_suffix(".job.json").write_text(json.dumps(job))
        command = [*before, sys.executable, "-B", str(HERE / script), str(base.with_suffix(".job.json"))]
        began, path = time.time(), base.with_suffix(".out")
        with open(path, "w") as out, open(base.with_suffix(".err"), "w") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True,
                                       env={**self.environment, **(more or {})})
            self.alive.add(process)
            hung = self.wait(process, limit_s, path, on_line)
            self.alive.discard(process)
        return self.judge(base, process.returncode, hung, began, limit_s)

    def wait(self, process, limit_s, path, on_line):
        end, seen = time.monotonic() + limit_s, 0
        while process.poll() is None:
            if time.monotonic() > end:
                kill(process)
                return True
            time.sleep(0.02)
            seen = self.follow(path, seen, on_line)
        self.follow(path, seen, on_line)
        return False

    def follow(self, path, seen, on_line):
        """Hands on lines as they come, where somebody wants them."""
        if not on_line:
            return seen
        lines = path.read_text().splitlines(keepends=True)
        for line in lines[seen:]:
            if not line.endswith("\n"):
                break
            seen += 1
            on_line(line)
        return seen

    def stop(self):
        for process in list(self.alive):
            kill(process)

    def judge(self, base, code, hung, began, limit_s):
        lines = [json.loads(line) for line in base.with_suffix(".out").read_text().splitlines() if line.startswith("{")]
        results = [line["result"] for line in lines if "result" in line]
        stages = [line["stage"] for line in lines if "stage" in line]
        said = base.with_suffix(".err").read_text().strip()
        if results and not hung and code == 0:
            result = results[-1]
        else:
            ended = f"hung, and was killed after {limit_s:.0f} s" if hung else f"ended with {code}"
            where = f" in the stage `{stages[-1]}`" if stages else ""
            last = "" if hung or not said else f": {said.splitlines()[-1]}"
            result = {"status": "hung" if hung else "crashed", "problems": [f"the process {ended}{where}{last}"]}
        if said:
            result["said"] = said[-1500:]
        traps = [line for line in base.with_suffix(".out").read_text().splitlines() if line
                 and not line.startswith("{")]
        if traps:
            result["printed"] = traps if len(traps) < 9 else traps[:4] + traps[-4:]
        return {**result, "wall_s": round(time.time() - began, 3)}
