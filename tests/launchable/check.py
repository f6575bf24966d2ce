#!/usr/bin/env python3
"""Asks launchers whether kernels hold for the sizes that they were planned for, and for longer axes that nothing divides.

check.py NAPKIN SOURCES FOLDER COMPILER: the part of an emitted launcher that judges sizes needs no device. It is taken
out of the text, compiled for the host and called: a launcher that refuses the sizes of its plan never runs, and one that
takes an axis longer than its kernel covers leaves numbers unwritten. Both were found on a device, by nothing before.
"""
import json
import pathlib
import re
import subprocess
import sys

NAPKIN, SOURCES, FOLDER, COMPILER = sys.argv[1:5]
EXAMPLES = ("attention", "causal_linear_attention", "cumulative_sum", "decode", "cross_entropy", "softmax", "matmul")
HEADS = """diagram heads
axis b = 1; axis h = 16; axis q = 4096; axis x = 512; axis d = 64
input Q: f16[b, h, q, d]; input K: f16[b, h, x, d]; input V: f16[b, h, x, d]
S[b, h, q, x] = sum[d](Q[b, h, q, d] * K[b, h, x, d]) / sqrt(size(d))
P: f16[b, h, q, x] = softmax[x](S[b, h, q, x])
O: f16[b, h, q, d] = sum[x](P[b, h, q, x] * V[b, h, x, d])
output O
"""
WITHOUT_B = "group h 1, q 128, stream x 64 at smem; group q 16 at reg"


def run(*words):
    made = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert made.returncode == 0, (words, made.stderr)
    return made.stdout


def emitted(file, *more):
    folder = pathlib.Path(FOLDER, file.stem + "_".join(more).replace(" ", "_")[:20])
    run(NAPKIN, "emit", "cuda", file, "--target", "h100-sxm5", "--force", "-o", folder, *more)
    return next(path for path in folder.glob("*.cu") if not path.stem.endswith("_harness")).read_text()


def judge(text):
    """What judges sizes, as C++ of the host; and the parameters of the launcher."""
    name = re.search(r"^struct (\w+)_sizes \{", text, re.M)[1]
    parts = [re.search(rf"^struct {name}_sizes \{{.*?^\}};", text, re.M | re.S)[0]]
    parts += [found[0] for found in (re.search(rf"^static {word}\(.*?^\}}", text, re.M | re.S)
                                     for word in (rf"{name}_sizes all_sizes", "bool possible")) if found]
    given = re.findall(r"int (\w+)", re.search(rf"int {name}_launch\((.*?)const void", text, re.S)[1])
    return name, parts, given


def asked(number, text, sizes):
    """A question for the launcher of a text: whether it takes these sizes."""
    name, parts, given = judge(text)
    numbers = ", ".join(str(sizes[axis]) for axis in given)
    made = f"all_sizes({numbers})" if len(parts) == 3 else f"{name}_sizes{{{numbers}}}"
    return (f"namespace launcher_{number} {{\n" + "\n".join(parts) +
            f"\nbool takes() {{ return possible({made}); }}\n}}\n")


def answers(questions):
    source, program = pathlib.Path(FOLDER, "asked.cpp"), pathlib.Path(FOLDER, "asked")
    calls = "".join(f'  std::printf("%d\\n", (int)launcher_{n}::takes());\n' for n in range(len(questions)))
    source.write_text("#include <cstddef>\n#include <cstdio>\n" + "".join(questions) + f"int main() {{\n{calls}}}\n")
    run(COMPILER, "-std=c++17", "-w", source, "-o", program)
    return [line == "1" for line in run(program).split()]


def planned_sizes(file):
    made = json.loads(run(NAPKIN, "analyze", file, "--target", "h100-sxm5", "--format", "json", "-q"))
    return made["sizes"]


def main():
    pathlib.Path(FOLDER).mkdir(parents=True, exist_ok=True)
    questions, wanted = [], []

    def ask(what, text, sizes, takes):
        questions.append(asked(len(questions), text, sizes))
        wanted.append((what, takes))

    for name in EXAMPLES:
        file = pathlib.Path(SOURCES, "examples", name + ".nap")
        ask(f"{name} as planned", emitted(file), planned_sizes(file), True)
    heads = pathlib.Path(FOLDER, "heads.nap")
    heads.write_text(HEADS)
    sizes = {"b": 1, "h": 16, "q": 4096, "x": 512, "d": 64}
    for path in ("warps", "tensor"):
        text = emitted(heads, "--path", path, "--partition", WITHOUT_B)
        ask(f"heads by {path}", text, sizes, True)
        ask(f"heads by {path}, more of what is divided", text, {**sizes, "h": 20, "q": 5000}, True)
        ask(f"heads by {path}, more of what is not", text, {**sizes, "b": 4}, False)
    for (what, takes), got in zip(wanted, answers(questions)):
        assert got == takes, f"{what}: {'takes' if got else 'refuses'} the sizes"
    print(f"good, {len(wanted)} questions")


main()
