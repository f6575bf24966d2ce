#!/usr/bin/env python3
"""Emitted kernels are the plan, to the letter, and a plan given back by hand is that plan.

    tests/planned/as_planned.py --jobs 2
    tests/planned/as_planned.py --examples attention.nap --machines h100-sxm5

Nothing of napkin's sources is known here. `napkin analyze --format json` says what is planned: of each kernel the labels,
warps, copies of tiles, the overlap, the blocks of a cluster, shared memory and the registers of a lane. `napkin emit cuda` says in the
comment above each kernel what it is. Both must be the same, no note may say that anything was changed on the way, and
`--partition` with the plan's own text must give back the plan's kernels, time and bytes.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/planned"))
import planned  # noqa: E402

MACHINES = planned.MACHINES
KERNEL = re.compile(r"((?://[^\n]*\n)+)(?:#ifdef NAPKIN_TEAMS\n)?__global__ void __launch_bounds__\(\d+, \d+\)\n(\w+)\(")
CHANGED = re.compile(r"adjusted|overlap|without instructions|not as planned|assigns its rows")

FEWER = 0

# Formats of the operands and of the result of a product, each with its operands along any axis.
FORMATS = [("f16", "f8e4m3", "f16"), ("f16", "i4", "f16"), ("bf16", "i8", "bf16"), ("f8e4m3", "f8e5m2", "f32"),
           ("f8e4m3", "f8e4m3", "f16"), ("i8", "i8", "i32"), ("tf32", "tf32", "f32"), ("tf32", "f16", "f32"),
           ("f32", "f16", "f32"), ("f16", "f16", "f32")]
LAYOUTS = [("m, k", "n, k"), ("m, k", "k, n"), ("k, m", "n, k"), ("k, m", "k, n")]
# Formats of Q and K, and of what is computed of them and of V, which lies along either axis.
COMPUTED = [("f16", "f8e4m3"), ("f8e4m3", "f8e4m3"), ("f8e5m2", "f8e5m2"), ("i8", "i8"), ("tf32", "tf32"), ("f16", "f32"),
            ("bf16", "bf16")]
# Formats of weights that the kernel computes, beside f16, and numbers of rows beside them.
WEIGHTS = [("i8", 16), ("f8e4m3", 16), ("f16", 16), ("i8", 2048), ("f8e4m3", 2048), ("bf16", 40)]


def weights(folder):
    """A file for each of them."""
    files = []
    for i, (of_w, rows) in enumerate(WEIGHTS):
        files.append(os.path.join(folder, "weights_%d.nap" % i))
        with open(files[-1], "w") as file:
            file.write("diagram weights_%d\naxis m = %d\naxis n = 4096\naxis k = 4096\n"
                       "input A: f16[m, k]\ninput W: f16[n, k]\ninput s: f32[n]\n"
                       "Q: %s[n, k] = W[n, k] / s[n]\nC: f16[m, n] = sum[k](A[m, k] * Q[n, k]) * s[n]\noutput C\n" % (i, rows, of_w))
    return files


def products(folder):
    """A file for each of them, and for each of the weights."""
    files = weights(folder)
    for i, (qk, pv) in enumerate(COMPUTED):
        for j, axes in enumerate(("d, x", "x, d")):
            path = os.path.join(folder, "computed_%d_%d.nap" % (i, j))
            with open(path, "w") as file:
                file.write("diagram computed_%d_%d\naxis q = 4096\naxis x = 4096\naxis d = 64\n"
                           "input Q: %s[q, d]\ninput K: %s[x, d]\ninput V: %s[%s]\n"
                           "S[q, x] = sum[d](Q[q, d] * K[x, d]) / 8\nP: %s[q, x] = softmax[x](S[q, x])\n"
                           "O: f16[q, d] = sum[x](P[q, x] * V[%s])\noutput O\n" % (i, j, qk, qk, pv, axes, pv, axes))
            files.append(path)
    for i, (a, b, c) in enumerate(FORMATS):
        for j, (of_a, of_b) in enumerate(LAYOUTS):
            path = os.path.join(folder, "product_%d_%d.nap" % (i, j))
            with open(path, "w") as file:
                file.write("diagram product_%d_%d\naxis m = 2048\naxis n = 1536\naxis k = 1024\n"
                           "input A: %s[%s]\ninput B: %s[%s]\nC: %s[m, n] = sum[k](A[%s] * B[%s])\noutput C\n" % (
                               i, j, a, of_a, b, of_b, c, of_a, of_b))
            files.append(path)
    return files


def napkin(options, *words):
    return subprocess.run([options.napkin, *words], capture_output=True, text=True, timeout=600)


def analyze(options, example, machine, *more):
    ran = napkin(options, "analyze", example, "--target", machine, "--format", "json", "-q", *more)
    if ran.returncode:
        raise RuntimeError("analyze %s %s: exit %d\n%s" % (machine, " ".join(more), ran.returncode, ran.stderr))
    return json.loads(ran.stdout)


def heads(code):
    """The comment above each kernel, by the kernel's name."""
    return {name: comment for comment, name in KERNEL.findall(code)}


def number(pattern, text, otherwise):
    found = re.search(pattern, text)
    return int(found[1]) if found else otherwise


def of_plan(kernel):
    """What is planned of a kernel on matrix units."""
    made = kernel["configuration"]
    chosen = next(one for one in made["pipelinings"] if one["overlap"] == made["chosen"])
    clusters = [one["blocks"] for one in made["clusters"] if one["chosen"]]
    return {
        "labels": sorted("%(kind)s %(axis)s %(size)d at %(level)s" % split for split in kernel["partition"]),
        "warps": made["teams"] * made["team_warps"],
        "copies": chosen["stages"],
        "in turn": made["chosen"] in ("two_teams", "three_teams"),
        "within a warpgroup": chosen["within"],
        "cluster": clusters[0] if clusters else 1,
        "shared bytes": chosen["shared_bytes"],
    }, chosen["occupancy"]["as_allocated"]["registers_per_thread"]


def of_kernel(comment, shared):
    """What its comment says of an emitted one. Tiles of one copy are not said to have copies; a label is printed at each
    loop that it makes."""
    copies = {int(count) for count in re.findall(r"one tile after another, (\d+) stages", comment)} or {1}
    return {
        "labels": sorted(set(re.findall(r"//   ((?:group|stream) \S+ \d+ at \S+)", comment))),
        "warps": number(r"by (\d+) warps?", comment, 0),
        "copies": copies.pop() if len(copies) == 1 else sorted(copies),
        "in turn": "in ping-pong" in comment,
        "within a warpgroup": "intra-warpgroup" in comment,
        "cluster": number(r"[Cc]lusters? of (\d+)", comment, 1),
        "shared bytes": shared,
    }, number(r"Planned registers of a thread: (\d+)", comment, None)


def labels_off(name, kernel, comment):
    """Of a kernel off matrix units, labels of blocks that are not as planned. Below a block, lanes and threads share its piece
    as they do, which a plan does not say."""
    planned = {"%(kind)s %(axis)s %(size)d at %(level)s" % split for split in kernel["partition"] if split["level"] != "reg"}
    emitted = set(re.findall(r"//   ((?:group|stream) \S+ \d+ at \S+)", comment))
    emitted = {label for label in emitted if not label.endswith((" at reg", " at thread"))}
    return [] if planned == emitted else ["%s: labels planned %s, emitted %s" % (name, sorted(planned), sorted(emitted))]


def differences(name, plan, code):
    """Of every kernel, what was planned and is otherwise: of those off matrix units, labels alone. Counts kernels on matrix
    units."""
    found, compared = [], 0
    all_heads = heads(code)
    rooms = {kernel: int(size) for kernel, size in re.findall(r"make_room\((\w+), (\d+)\)", code)}
    for at, kernel in enumerate(plan["kernels"]):
        teams = kernel["configuration"] and "wgmma" in kernel["configuration"]["instruction"]
        of = "%s_kernel%s%s" % (name, "_%d" % (at + 1) if len(plan["kernels"]) > 1 else "", "_warpgroups" if teams else "")
        if of not in all_heads:
            found.append("%s is not there" % of)
            continue
        if not kernel["configuration"]:
            found += labels_off(of, kernel, all_heads[of])
            continue
        compared += 1
        (planned, registers), (emitted, lane) = of_plan(kernel), of_kernel(all_heads[of], rooms.get(of, 0))
        planned["labels"] = sorted(set(planned["labels"]))
        found += ["%s: %s planned %s, emitted %s" % (of, what, planned[what], emitted[what])
                  for what in planned if planned[what] != emitted[what]]
        if lane is None or not registers - FEWER <= lane <= registers:
            found.append("%s: registers planned %s, emitted %s" % (of, registers, lane))
    return found, compared


def given_back(options, example, machine, plan):
    """The plan's text by hand: the same kernels, time and bytes."""
    text = plan["partition"]
    if text is None and plan["prefixes"]:  # labels have no words for chunks (docs/json.md)
        return []
    if text is None:
        return ["no text gives the plan back"]
    again = analyze(options, example, machine, "--partition", text)
    found = ["%s of the plan %s, by hand %s: %s" % (what, plan["totals"][what], again["totals"][what], text)
             for what in ("time_s", "transfer_bytes") if plan["totals"][what] != again["totals"][what]]
    # Of axes that several kernels divide, the parts are named in the order in which they were divided; and a lane has
    # one position of each axis, whether or not a label says so.
    kernels = [[re.sub(r"_part_\b", "_part", re.sub(r"; group \w+ 1 at reg$", "", kernel["partition_text"]))
                for kernel in report["kernels"]] for report in (plan, again)]
    return found + (["kernels of the plan %s, by hand %s" % tuple(kernels)] if kernels[0] != kernels[1] else [])


def emit(options, name, example, machine):
    """The kernels and what is noted of them."""
    with tempfile.TemporaryDirectory() as folder:
        ran = napkin(options, "emit", "cuda", example, "--target", machine, "-o", folder)
        if ran.returncode:
            raise RuntimeError("emit %s: exit %d\n%s" % (machine, ran.returncode, ran.stderr))
        with open(os.path.join(folder, name + ".cu")) as file:
            return file.read(), ran.stderr


def check(options, example, machine):
    name = os.path.basename(example)[:-len(".nap")]
    forms = [planned.read(options.planned, example, machine, form) for form in ("json", name + ".cu", "notes")]
    if None in forms:
        plan, (code, notes) = analyze(options, example, machine), emit(options, name, example, machine)
    else:
        plan, code, notes = json.loads(forms[0]), *forms[1:]
    found, compared = differences(name, plan, code)
    found += [line for line in notes.splitlines() if CHANGED.search(line)]
    try:
        return found + given_back(options, example, machine, plan), compared
    except RuntimeError as error:  # the text is refused
        return found + [str(error)], compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=os.path.join(ROOT, "build/release/napkin"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--examples", nargs="*",
                        default=sorted(one for one in os.listdir(os.path.join(ROOT, "examples")) if one.endswith(".nap")))
    parser.add_argument("--machines", nargs="*", default=MACHINES)
    parser.add_argument("--planned", help="a folder that planned.py wrote: each example on the machines that it has there")
    parser.add_argument("--products", action="store_true", help="products in many formats, along any axis, as well")
    options = parser.parse_args()
    made = tempfile.TemporaryDirectory()
    jobs = [(os.path.join(ROOT, "examples", example), machine) for example in options.examples
            for machine in (planned.machines_of(example) if options.planned else options.machines)]
    if options.products:
        jobs += [(file, machine) for i, file in enumerate(products(made.name))
                 for machine in sorted({"h100-sxm5", options.machines[i % len(options.machines)]})]
    compared, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (example, machine), (found, kernels) in zip(jobs, pool.map(lambda job: check(options, *job), jobs)):
            compared, failed = compared + kernels, failed + bool(found)
            for line in found:
                print("%s on %s: %s" % (os.path.basename(example), machine, line))
    print("%d diagrams on machines, %d kernels on matrix units compared: %d not as planned" % (len(jobs), compared, failed))
    sys.exit(1 if failed or compared == 0 else 0)


if __name__ == "__main__":
    main()
