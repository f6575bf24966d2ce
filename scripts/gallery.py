#!/usr/bin/env python3
"""Writes docs/gallery.md and docs/pictures/gallery/*.svg: every diagram of examples/ with its picture, what its best plan
does on an H100, and how to emit its kernel. With --check the script only says what differs.

usage: scripts/gallery.py [--check] [PROGRAM [PLANNED]]     PROGRAM is build/release/napkin if not given; PLANNED is a folder
                                                            of plans that tests/planned/planned.py wrote
"""
import json, pathlib, re, subprocess, sys

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests/planned"))
import planned as shared  # noqa: E402

target = "h100-sxm5"
folder = "docs/pictures/gallery"
names = {"gmem": "DRAM", "l2": "L2", "smem": "shared memory", "reg": "registers", "tensor": "tensor cores",
         "fma": "FMA lanes", "sfu": "special function units"}


def run(program, *arguments):
    done = subprocess.run([program, *arguments, "--quiet"], cwd=root, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"napkin {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def digits(number):
    """Three significant digits, without an exponent."""
    return f"{number:.{max(0, 3 - len(str(int(number))))}f}"


def scaled(number, unit, prefixes):
    for factor, prefix in prefixes:
        if number >= 0.9995 * factor:
            return f"{digits(number / factor)} {prefix}{unit}"
    return f"{digits(number)} {unit}"


def seconds(number):
    return scaled(number, "s", [(1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")])


def size(number):
    return scaled(number, "B", [(1e9, "G"), (1e6, "M"), (1e3, "k")])


def bound(kernel):
    """What the kernel waits for most of the time: a unit, or the transfers between two memories."""
    ends = kernel["causes"][0]["what"].split(" -> ")
    return " to ".join(names.get(end, end) for end in ends)


def instructions(kernel):
    found = {}
    for product in kernel["products"]:
        where = product["instruction"] or names.get(product["unit"], product["unit"])
        found.setdefault(where, []).append(f"`{product['result']}`")
    return "; ".join(f"{where} for {', '.join(results)}" for where, results in found.items()) or "no matrix products"


def opening(text):
    """The paragraph of comment with which every example begins, as prose."""
    lines = re.match(r"(?:#.*\n)+", text)[0].splitlines()
    return "\n".join(line.lstrip("# ").rstrip().replace("*", "\\*").replace("](", "]\\(") for line in lines)


def overview(rows):
    head = ["| example | time | as separate kernels | kernels | the longest is bound by | DRAM traffic |",
            "| --- | --- | --- | --- | --- | --- |"]
    return head + [f"| [{name}](#{name}) | {' | '.join(cells)} |" for name, *cells in rows]


def section(name, text, page):
    axes = ", ".join(f"{axis} {length}" for axis, length in page["sizes"].items() if "'" not in axis)
    lines = [f"## {name}", "", opening(text), "", f"![the diagram of {name}](pictures/gallery/{name}.svg)", "",
             f"Sizes: {axes}.", "", "| kernel | tile | time | bound by | instructions |", "| --- | --- | --- | --- | --- |"]
    for kernel in page["kernels"]:
        statements = ", ".join(f"`{one}`" for one in kernel["statements"])
        lines.append(f"| {statements} | {kernel['partition_text']} | {seconds(kernel['time_s'])} | {bound(kernel)} | "
                     f"{instructions(kernel)} |")
    return lines + ["", "```sh", f"napkin emit cuda examples/{name}.nap --target {target} -o {name}_kernel", "```", ""]


introduction = f"""# The gallery

This page shows every diagram of `examples/` with its best plan on an H100 SXM5 (`--target {target}`): the predicted time, what
bounds it, and how to emit the kernel. *As separate kernels* is the predicted time of one kernel for each statement. A dash
there means that the plan fuses nothing, or that a statement does not fit a kernel of its own. The pictures come from `napkin draw`, and [drawings](drawing.md) says how to read them.
`napkin draw examples/NAME.nap --target {target} -o NAME.svg` draws the plan, and `napkin analyze` prints the whole report.

The script `scripts/gallery.py` writes this page, and a test compares it with what the program prints.
"""


def analyzed(program, path, planned):
    """The report of an example, from the plans that are there."""
    known = shared.read(planned, path, target, "json")
    return json.loads(known or run(program, "analyze", path, "--target", target, "--format", "json"))


def make(program, planned):
    """All files of the gallery: path and text."""
    files, rows, sections = {}, [], []
    for example in sorted((root / "examples").glob("*.nap")):
        name, path = example.stem, f"examples/{example.name}"
        page = analyzed(program, path, planned)
        longest = max(page["kernels"], key=lambda kernel: kernel["time_s"])
        files[f"{folder}/{name}.svg"] = run(program, "draw", path, "--format", "svg")
        summary, unfused = page["summary"], page["summary"]["unfused_time_s"]
        rows.append((name, seconds(page["totals"]["time_s"]), seconds(unfused) if unfused else "-",
                     str(len(page["kernels"])), bound(longest), size(summary["dram_bytes"])))
        sections += section(name, example.read_text(), page)
    files["docs/gallery.md"] = "\n".join([introduction, *overview(rows), "", *sections])
    return files


def main():
    arguments = [one for one in sys.argv[1:] if one != "--check"]
    program = pathlib.Path(arguments[0]).resolve() if arguments else root / "build/release/napkin"
    files = make(program, arguments[1] if len(arguments) > 1 else None)
    left = [path for path in (root / folder).glob("*") if f"{folder}/{path.name}" not in files]
    if "--check" in sys.argv:
        stale = [name for name, text in files.items() if not (root / name).exists() or (root / name).read_text() != text]
        stale += [str(path.relative_to(root)) for path in left]
        if stale:
            raise SystemExit("not what the program prints: " + ", ".join(stale) + "; run scripts/gallery.py")
        return
    (root / folder).mkdir(parents=True, exist_ok=True)
    for path in left:
        path.unlink()
    for name, text in files.items():
        (root / name).write_text(text)


main()
