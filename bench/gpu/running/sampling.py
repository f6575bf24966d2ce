"""Clocks, power and temperature of the device, sampled all the time by nvidia-smi; steps ask for what a window saw."""
import shutil
import statistics
import subprocess
import threading
import time

from building import kill

FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "clocks_throttle_reasons.active")


def find(wanted):
    return wanted or shutil.which("nvidia-smi")


class Sampler:
    def __init__(self, program, folder):
        self.program, self.samples, self.process, self.stopped = program, [], None, False
        if program:
            self.file = open(folder / "clocks.csv", "a", buffering=1)
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """Drivers call the last field by different names: without it, if there is nothing with it."""
        for fields in (FIELDS, FIELDS[:-1]):
            if not self.samples and not self.stopped:
                self.follow(fields)

    def follow(self, fields):
        command = [self.program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "-lms", "50"]
        try:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                            start_new_session=True)
        except OSError:
            return
        for line in self.process.stdout:
            self.file.write(f"{time.time():.3f}, {line}")
            words = [word.strip() for word in line.split(",")]
            try:
                numbers = [float(word) for word in words[:4]]
            except ValueError:
                continue
            self.samples.append((time.time(), *numbers, words[4] if len(words) > 4 else ""))

    def window(self, begin, end):
        """Medians over a window, and the reasons why clocks were held down; None where nothing was sampled."""
        inside = [one for one in self.samples if begin + 0.05 <= one[0] <= end + 0.05]
        if not inside:
            return None
        middle = [statistics.median(one[i] for one in inside) for i in range(1, 5)]
        return {"sm_hz": middle[0] * 1e6, "memory_hz": middle[1] * 1e6, "power_w": middle[2], "celsius": middle[3],
                "throttled": sorted({one[5] for one in inside}), "samples": len(inside)}

    def stop(self):
        self.stopped = True
        if self.process:
            kill(self.process)


def once(program):
    """What nvidia-smi says of the device: name, driver, limits; an empty text where it is not there."""
    if not program:
        return ""
    query = "--query-gpu=name,driver_version,power.limit,clocks.max.sm,clocks.max.mem,persistence_mode"
    try:
        made = subprocess.run([program, query, "--format=csv,noheader"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL,
                              text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return made.stdout.strip()
