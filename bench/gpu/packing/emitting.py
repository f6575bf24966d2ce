"""Runs napkin: the kernels of a source, what their header says of a call, and what is planned and predicted of them."""
import json
import re
import subprocess

WGMMA = "compute.tensor.instructions.wgmma.fraction=0.001"


class Refused(Exception):
    pass


def napkin(program, *words):
    return subprocess.run([program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def choices(source):
    """What is set of a source's sizes and partition, as words of a command."""
    words = [word for axis, size in source.sizes.items() for word in ("--set", f"{axis}={size}")]
    return words + (["--partition", source.partition] if source.partition else [])


def emit(program, target, source, path, folder):
    """Writes the sources into a folder; gives notes and the text of the harness, which is not kept."""
    file = folder / "diagram.nap"
    file.write_text(source.text)
    more = choices(source) + (["--binding", "torch"] if source.binding else [])
    made = napkin(program, "emit", "cuda", file, "--target", target, "--path", path, "--force", "-o", folder, *more)
    if made.returncode:
        raise Refused(made.stderr.strip().splitlines()[0])
    harness = folder / f"{source.name}_harness.cu"
    text = harness.read_text()
    harness.unlink()
    (folder / "CMakeLists.txt").unlink()
    return made.stderr, text


def signature(header, name):
    """The parameters of the launcher: axes by the names of parameters, inputs and outputs, in its order."""
    call = re.search(rf"int {name}_launch\((.*?)\);", header, re.S)[1]
    axes, arrays = [], {"input": [], "output": []}
    for parameter, axis, rest in re.findall(r"^ \*   (\w+) +size of axis (\w+)(.*)$", header, re.M):
        most = re.search(r"at most (\d+)", rest)
        axes.append({"parameter": parameter, "axis": axis, "most": int(most[1]) if most else None})
    for array, kind, type_, wires in re.findall(r"^ \*   (\w+) +(input|output) (\w+)\[([^\]]*)\]", header, re.M):
        arrays[kind].append({"name": array, "type": type_,
                             "axes": [wire.strip(" '") for wire in wires.split(",") if wire]})
    names = re.findall(r"int (\w+)[,)]", call + ",")
    axes = [one for name_ in names for one in axes if one["parameter"] == name_]
    if len(axes) != len(names):
        raise Refused(f"the header of {name} does not say which axes its parameters are")
    return {"axes": axes, "inputs": arrays["input"], "outputs": arrays["output"],
            "says_path": f"{name}_last_path" in header}


def small_sizes(harness, made):
    """The sizes at which the harness checks, by axis."""
    numbers = re.search(r"^ +n = \{([\d, ]+)\};", harness, re.M)[1].split(",")
    return {one["axis"]: int(number) for one, number in zip(made["axes"], numbers)}


def tolerances(harness, outputs):
    found = dict(re.findall(r'printf\("(\w+): relative error [^;]*?error <= ([0-9.e+-]+) ', harness))
    return [float(found[one["name"]]) for one in outputs]


def densities(text):
    return {name: float(share) for name, share in re.findall(r"input (\w+): bool\[[^\]]*\] density ([0-9.]+)", text)}


def ways(code, notes, name):
    """The path of every kernel, as the launcher names it: what it says itself, or what the text shows."""
    said = re.search(rf'{name}_planned_path\(void\)[^"]*"([^"]*)"', code)
    if said:
        return said[1]
    found = []
    for number in sorted(set(re.findall(rf"^{name}_kernel(_\d+)?\(", code, re.M)), key=lambda text: int(text[1:] or 0)):
        kernel = f"{name}_kernel{number}"
        if re.search(rf"^{kernel}_warpgroups\(", code, re.M):
            found.append("warpgroups")
        elif f"{kernel} does not assign rows" in notes:
            found.append("threads")
        else:
            found.append("rows" if f"{kernel} assigns its rows" in notes else "warps")
    return ",".join(found)


def analyze(program, target, source, path):
    """The plan in JSON, or None; of single warps, on a machine whose instructions of warpgroups are no use."""
    more = choices(source)
    more += ["--set-target", WGMMA] if path == "warps" and target.startswith("h") else []
    command = ["analyze", source.file, "--target", target, "--format", "json", "-q", *more]
    made = napkin(program, *command)
    if made.returncode and "--set-target" in more:
        made = napkin(program, *command[:-2])
    return json.loads(made.stdout) if made.returncode == 0 else None


def registers(code):
    return [int(count) for count in re.findall(r"^// Planned registers of a thread: (\d+)", code, re.M)]


def of_kernel(kernel):
    """What is planned and predicted of one kernel."""
    found = {"statements": kernel["statements"], "partition": kernel["partition_text"], "bound_by": kernel["bound_by"],
             "bound_from": kernel["bound_from"], "predicted_s": kernel["time_s"],
             "bytes": {level["level"]: level["transfer_bytes"] for level in kernel["levels"]},
             "operations": {unit["unit"]: unit["operations"] for unit in kernel["units"]}}
    made = kernel["configuration"]
    if made and made["launch"]:
        chosen = next(one for one in made["pipelinings"] if one["overlap"] == made["chosen"])
        found |= {"warps": made["teams"] * made["team_warps"], "stages": chosen["stages"], "overlap": made["chosen"],
                  "within": chosen["within"], "registers": chosen["occupancy"]["as_allocated"]["registers_per_thread"],
                  "cluster": next((one["blocks"] for one in made["clusters"] if one["chosen"]), 1),
                  "shared_bytes": chosen["shared_bytes"], "blocks": made["launch"]["blocks"],
                  "bound": made["bound"], "losses": made["launch"]["losses"]}
    return found


def plan(analysis, code):
    """What the manifest says of a plan."""
    if not analysis:
        return {"predicted_s": None, "kernels": [], "lane_registers": registers(code)}
    totals = analysis["totals"]
    return {"partition": analysis["partition"], "predicted_s": totals["time_s"], "ideal_s": totals["ideal_time_s"],
            "operations": totals["operations"], "bytes": totals["transfer_bytes"], "energy_j": totals["energy_j"],
            "sizes": analysis["sizes"], "kernels": [of_kernel(one) for one in analysis["kernels"]],
            "lane_registers": registers(code)}
