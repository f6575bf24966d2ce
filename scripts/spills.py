#!/usr/bin/env python3
"""Compiles the kernels of every example and of what docs/cuda.md lists beside them, as the search plans them, and writes
what ptxas says into the table there: for an A100, an RTX 4090 and an H100 how each kernel runs, and what it spills.

usage: scripts/spills.py [--print] [--only PATTERN] [PROGRAM]     PROGRAM is build/release/napkin if not given

It takes nvcc, and some minutes.
"""
import concurrent.futures, os, pathlib, re, shutil, subprocess, sys, tempfile

root = pathlib.Path(__file__).resolve().parent.parent
nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
machines = {"a100-sxm4-80": ["sm_80", "sm_86"], "rtx4090": ["sm_89"], "h100-sxm5": ["sm_90", "sm_90a"]}
begin, end = "<!-- kernels: scripts/spills.py -->\n", "<!-- end of kernels -->\n"


def product(a, b, operands="f16", result="f16", value="{}", more=""):
    return f"""diagram product
axis m = 4096; axis n = 4096; axis k = 4096
input A: {operands}[{a}]; input B: {operands}[{b}]{more}
C: {result}[m, n] = {value.format(f"sum[k](A[{a}] * B[{b}])")}
output C
"""


residual = "; input bias: f16[n]; input R: f16[m, n]"
scales = "; input a: f32[m]; input b: f32[n]"
rows = "diagram rows\naxis r = 32768; axis x = 4096\ninput X: f16[r, x]; input G: f16[x]; input B: f16[x]\n"
others = {
    "matrix product, A and B along k": product("m, k", "n, k"),
    "… A along k, B along n": product("m, k", "k, n"),
    "… A along m, B along k": product("k, m", "n, k"),
    "… A along m, B along n": product("k, m", "k, n"),
    "… with bias, gelu and residual": product("m, k", "k, n", value="gelu({} + bias[n]) + R[m, n]", more=residual),
    "… of f8 with scales": product("m, k", "n, k", "f8e4m3", "bf16", "{} * a[m] * b[n]", scales),
    "… of i8": product("m, k", "n, k", "i8", "i32"),
    "… of i8 with scales": product("m, k", "n, k", "i8", "bf16", "{} * a[m] * b[n]", scales),
    "layernorm": rows + "Y: f16[r, x] = layernorm[x](X[r, x]) * G[x] + B[x]\noutput Y\n",
}


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more)


def ways(source, notes, name):
    """How each kernel of a file runs: by warpgroups (with a version for single warps), by single warps, as rows, or on plain threads."""
    planned = re.search(rf'{name}_planned_path\(void\) {{ return "(.*)"; }}', source)[1].split(",")
    for number, way in enumerate(planned, 1):
        kernel = f"{name}_kernel" + (f"_{number}" if len(planned) > 1 else "")
        yield f"{way}, else threads" if way == "warpgroups" and f"{kernel} runs without matrix" in notes else way


def compiled(program, text, machine):
    with tempfile.TemporaryDirectory() as folder:
        diagram = pathlib.Path(folder, "diagram.nap")
        diagram.write_text(text)
        command = [program, "emit", "cuda", diagram, "--target", machine, "-o", folder]
        emitted = subprocess.run(command, text=True, capture_output=True)
        if emitted.returncode:
            return "no plan fits"
        notes = emitted.stderr
        name = re.search(r"^diagram (\w+)", text, re.M)[1]
        file = pathlib.Path(folder, name + ".cu")
        spilled = 0
        for architecture in machines[machine]:
            said = run(nvcc, "-Xptxas", "-v", f"-arch={architecture}", "-cubin", file, "-o", "kernel.cubin", cwd=folder)
            spilled = max([spilled] + [int(each) for each in re.findall(r"(\d+) bytes spill stores", said.stderr)])
        return ", ".join(ways(file.read_text(), notes, name)) + (f"; spills {spilled} B" if spilled else "")


def row(program, title, text):
    cells = [compiled(program, text, machine) for machine in machines]
    line = f"| {title} | " + " | ".join(cells) + " |\n"
    print(line, end="", flush=True)
    return line


def main():
    words = sys.argv[1:]
    only = words.pop(words.index("--only") + 1) if "--only" in words else "."
    paths = [word for word in words if not word.startswith("--")]
    program = pathlib.Path(paths[0] if paths else root / "build/release/napkin").resolve()
    texts = {f"`{path.stem}`": path.read_text() for path in sorted(root.glob("examples/*.nap"))} | others
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = pool.map(lambda each: row(program, *each), [each for each in texts.items() if re.search(only, each[0])])
        table = "| diagram | A100 | RTX 4090 | H100 SXM |\n|---|---|---|---|\n" + "".join(lines)
    if "--print" in words or only != ".":
        return
    page = root / "docs/cuda.md"
    before, rest = page.read_text().split(begin)
    page.write_text(before + begin + table + end + rest.split(end)[1])


main()
