#!/usr/bin/env python3
"""Compiles kernels on matrix units at the registers that their first comment counts, with 8 less until ptxas spills and with
8 more until it does not, and writes into docs/cuda.md how far the count is from what is needed: for the kernels of every example as planned, and of
attention and its kin in a grid of pieces and widths, for an A100 and an H100.

usage: scripts/registers.py [--print] [--only PATTERN] [PROGRAM]     PROGRAM is build/release/napkin if not given

It takes nvcc, and some ten minutes. --print names each kernel, and leaves the document alone.
"""
import concurrent.futures, os, pathlib, re, shutil, statistics, subprocess, sys, tempfile

root = pathlib.Path(__file__).resolve().parent.parent
nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
ptxas = str(pathlib.Path(nvcc).with_name("ptxas"))
machines = {"a100-sxm4-80": "sm_80", "h100-sxm5": "sm_90a"}
begin, end = "<!-- registers: scripts/registers.py -->\n", "<!-- end of registers -->\n"
head = re.compile(r"// Planned registers of a thread: (\d+), of which (\d+)[^\n]*\n(?://[^\n]*\n)*(?:#ifdef NAPKIN_TEAMS\n)?"
                  r"__global__ void __launch_bounds__\(\d+, \d+\)\n(\w+)\(")
least, most = 32, 255


def cases():
    """Title, diagram, machine and further words: examples as planned, then the grid."""
    examples = {path.stem: path.read_text() for path in sorted(root.glob("examples/*.nap"))}
    for machine in machines:
        for name, text in examples.items():
            yield name, text, machine, []
        for name in ("attention", "causal", "alibi", "softcap", "rbf_attention", "spherical"):
            heads = "h 1, " if name in ("alibi", "softcap") else ""
            for q, x, d in ((64, 32, 128), (64, 64, 64), (64, 128, 128), (128, 64, 128), (128, 96, 64), (128, 176, 64),
                            (192, 64, 64), (192, 128, 64)):
                words = ["--set", f"d={d}", "--partition", f"group {heads}q {q}, stream x {x} at smem"]
                yield f"{name} q {q} x {x} d {d}", examples[name], machine, words


def spilled(ptx, kernel, registers, architecture, folder):
    """Bytes that ptxas spills where a thread may have so many registers; None where it refuses."""
    if "setmaxnreg.inc" in ptx:
        ptx = re.sub(r"(setmaxnreg\.inc\.sync\.aligned\.u32 )\d+", rf"\g<1>{registers}", ptx)
    else:
        ptx = re.sub(r"\n\.maxntid[^\n]*(\n\.minnctapersm[^\n]*)?", f"\n.maxnreg {registers}", ptx)
    file = pathlib.Path(folder, kernel + ".ptx")
    file.write_text(ptx)
    said = subprocess.run([ptxas, "-v", "-arch=" + architecture, file, "-o", "/dev/null"], capture_output=True, text=True)
    found = re.search(r"(\d+) bytes spill stores", said.stderr)
    return int(found[1]) if found and said.returncode == 0 else None


def measured(case):
    """Of every kernel on matrix units: title, machine, kernel, registers counted, those to spare, and bytes spilled."""
    program, (title, text, machine, words) = case
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        diagram = pathlib.Path(folder, "diagram.nap")
        diagram.write_text(text)
        command = [program, "emit", "cuda", diagram, "--target", machine, "-o", folder, *words]
        if subprocess.run(command, capture_output=True).returncode:
            return rows  # pieces that no block can run
        source = pathlib.Path(folder, re.search(r"^diagram (\w+)", text, re.M)[1] + ".cu")
        counted = {kernel: (int(registers), int(values)) for registers, values, kernel in head.findall(source.read_text())}
        architecture = machines[machine]
        subprocess.run([nvcc, "-arch=" + architecture, "-ptx", source.name, "-o", "all.ptx"], cwd=folder, check=True,
                       capture_output=True)
        shared, *entries = re.split(r"(?=\n\.visible \.entry )", pathlib.Path(folder, "all.ptx").read_text())
        for entry in entries:
            mangled = re.search(r"\.entry (\w+)\(", entry)[1]
            kernel = next((one for one in counted if mangled.startswith(f"_Z{len(one)}{one}")), None)
            if kernel:
                rows.append((title, machine, kernel, *counted[kernel],
                             *needed(shared + entry, kernel, counted[kernel][0], architecture, folder)))
    return rows


def needed(ptx, kernel, counted, architecture, folder):
    """Bytes spilled at the count, and the fewest registers without any; None where 255 are too few."""
    holds = lambda registers: spilled(ptx, kernel, registers, architecture, folder) == 0
    steps = [*range(least, most, 8), most]  # they are allocated by 8
    at = next(i for i, registers in enumerate(steps) if registers >= min(counted, most))
    bytes_at_count = spilled(ptx, kernel, steps[at], architecture, folder)
    if bytes_at_count:
        return bytes_at_count, next((registers for registers in steps[at + 1:] if holds(registers)), None)
    while at > 0 and holds(steps[at - 1]):
        at -= 1
    return 0, steps[at]


def line(title, rows):
    spare = [row[3] - row[6] for row in rows if row[5] == 0]
    over = [row for row in rows if row[5]]
    short = max(((row[6] or most + 1) - row[3] for row in over), default=0)
    return (f"| {title} | {len(rows)} | {statistics.median(spare):.0f} | {100 * sum(one <= 8 for one in spare) / len(rows):.0f} % | "
            f"{max(spare)} | {len(over)}{f', by at most {short}' if over else ''} |\n")


def main():
    words = sys.argv[1:]
    only = words.pop(words.index("--only") + 1) if "--only" in words else "."
    paths = [word for word in words if not word.startswith("--")]
    program = pathlib.Path(paths[0] if paths else root / "build/release/napkin").resolve()
    chosen = [(program, case) for case in cases() if re.search(only, case[0])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for some in pool.map(measured, chosen) for row in some]
    if "--print" in words:
        for row in rows:
            print("%-34s %-13s %-34s counted %3d, values %3d, spills %s B, needs %s" % row)
    groups = [row for row in rows if row[2].endswith("_warpgroups")]
    warps = [row for row in rows if not row[2].endswith("_warpgroups")]
    table = ("| kernels of | kernels | registers to spare, median | 8 or less | most | need more than the count |\n|---|---|---|---|---|---|\n"
             + "".join(line(title, some) for title, some in (("single warps", warps), ("warpgroups", groups)) if some))
    print(table, end="")
    if "--print" in words or only != ".":
        return
    page = root / "docs/cuda.md"
    before, rest = page.read_text().split(begin)
    page.write_text(before + begin + table + end + rest.split(end)[1])


main()
