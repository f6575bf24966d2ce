"""Asks the program: a diagram on a machine, as its report in JSON. Equal questions are asked once."""
import functools, json, subprocess

program = None


@functools.lru_cache(None)
def analyze(diagram, target, partition=None, settings=()):
    command = [program, "analyze", "-", "--target", target, "--format", "json"]
    for setting in settings:
        command += ["--set-target", setting]
    command += ["--partition", partition] if partition else []
    made = subprocess.run(command, input=diagram, capture_output=True, text=True)
    report = json.loads(made.stdout)
    if "kernels" not in report:
        raise SystemExit(f"{target}: {partition}\n{diagram}\n{made.stdout}")
    return report


@functools.lru_cache(None)
def profile(target, settings=()):
    """Every number of a machine, by its path."""
    made = subprocess.run([program, "targets", target, "--format", "json"], capture_output=True, text=True)
    numbers = {one["path"]: one.get("value") for one in json.loads(made.stdout)["numbers"]}
    return numbers


def seconds(diagram, target, settings=()):
    """Of the plan that napkin finds."""
    return analyze(diagram, target, None, settings)["totals"]["time_s"]


def without_launch(diagram, target, settings=()):
    """Its seconds but for those of its launches, and these."""
    launch = next((float(one.split("=")[1].removesuffix(" us")) * 1e-6 for one in settings if one.startswith("limits.launch=")),
                  profile(target).get("limits.launch", 0))
    launches = launch * len(analyze(diagram, target, None, settings)["kernels"])
    return seconds(diagram, target, settings) - launches, launches


def leaving(registers):
    """Of a kernel that napkin has not printed: arrays lie packed, and a thread has so many registers beside them."""
    return (f"limits.registers_for_addresses={registers}",)


# Authors fit the pieces of kernels by hand to registers; libraries leave more where warpgroups hold longer pieces.
BY_HAND, LIBRARY_OF_TEAMS = leaving(20), leaving(48)


def launch(diagram, target, partition, overlaps=None, settings=()):
    """The configured launch, and its time overlapped in the fastest of these ways; none where it does not run."""
    made = analyze(diagram, target, partition, BY_HAND + tuple(settings))["kernels"][0]["configuration"]
    if not made or not made["launch"]:
        return None, float("inf")
    if not overlaps:
        return made["launch"], made["launch"]["time_s"]
    times = [one["launch_s"] for one in made["pipelinings"] if one["runs"] and one["overlap"] in overlaps]
    return made["launch"], min(times, default=float("inf"))
