"""What is known so far: one JSON, rewritten whole at every result, one log and one table."""
import datetime
import json
import os
import threading

FINISHED = ("good", "wrong", "failed", "hung", "crashed", "not there", "refused")


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


class Records:
    def __init__(self, folder, resume):
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.lock = folder / "results.json", threading.RLock()
        self.log = open(folder / "log.txt", "a" if resume else "w", buffering=1)
        before = json.loads(self.path.read_text()) if resume and self.path.exists() else {}
        self.data = {"schema": "napkin.first_run/1", "builds": {}, "steps": {}, **before}
        self.data["left_out"] = {}

    def finished(self, name):
        return self.data["steps"].get(name, {}).get("status") in FINISHED

    def say(self, text):
        with self.lock:
            self.log.write(f"{now()} {text}\n")
            print(text, flush=True)

    def set(self, **words):
        with self.lock:
            self.data.update(words)
            self.save()

    def build(self, key, found):
        with self.lock:
            self.data["builds"][key] = found
            if not found["good"]:
                self.say(f"not built: {key}: {found['says'][:300]}")
            self.log.write(f"{now()} built {key}: {found['good']}, {found['seconds']} s\n")

    def step(self, name, result):
        with self.lock:
            self.data["steps"][name] = result
            self.save()
            words = "; ".join(result.get("problems", []))[:400]
            self.say(f"{result['status']:<9} {name}" + (f"  {result['seconds'] * 1e3:.3f} ms" if result.get("seconds")
                                                        else "")
                     + (f"  {words}" if words else ""))

    def leave_out(self, name, why):
        with self.lock:
            self.data["left_out"][name] = why
            self.log.write(f"{now()} left out {name}: {why}\n")

    def save(self):
        """Whole and on the disk, or not at all."""
        fresh = self.path.with_suffix(".json.new")
        with open(fresh, "w") as file:
            json.dump(self.data, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.path)
