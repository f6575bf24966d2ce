#!/usr/bin/env python3
"""Random reductions of what lies before or behind a position, planned at sizes where chunks of the axis are faster, emitted
in C++ and run at other sizes: one chunk, a part of one, and several, against numpy; and what `napkin verify` counts.

    tests/oracle/chunks.py --count 40 --seed 7
"""
import argparse
import os
import random
import re
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import check  # noqa: E402
import data  # noqa: E402
from kernels import Kernel, Tools, arguments_of, outputs_of, sizes_to_pass  # noqa: E402
from language import parse  # noqa: E402
from meaning import evaluate, sizes_of  # noqa: E402
from prefixes import Drawing  # noqa: E402

PLANNED = {"t": 8192, "x": 8192, "s": 8192, "r": 64, "d": 64, "e": 64}


def at_sizes(text, sizes):
    text = text.replace("diagram d\n", "diagram chunks\n")
    return re.sub(r"axis (\w) = \d+", lambda found: "axis %s = %d" % (found.group(1), sizes[found.group(1)]), text)


def emitted(tools, text, folder):
    """The kernel and how long its chunks are; None where the plan has none."""
    path = os.path.join(folder, "chunks.nap")
    with open(path, "w") as file:
        file.write(text)
    code, _, err = tools.run("emit", "cpp", path, "--target", "h100-sxm5", "-o", folder, "--force", "-q", timeout=300)
    if code:
        raise RuntimeError("emit ends with %d: %s" % (code, err))
    with open(os.path.join(folder, "chunks.h")) as header:
        found = re.search(r"^ \*   t is computed in up to \d+ parts of (\d+)", header.read(), re.M)
    return (Kernel("chunks", folder), int(found.group(1))) if found else (None, 0)


def runs(rng, length):
    """Sizes of one chunk, of several, and of a part of one."""
    for positions in (length, 2 * length, 3 * length, rng.randint(1, length)):
        yield {"t": positions, "x": positions, "s": positions, "r": 2, "d": rng.randint(1, 5), "e": rng.randint(1, 5)}


def alike(got, meant):
    """Far positions have exponents of hundreds, whose rounding is left in a decay (docs/theory.md, S9)."""
    finite = np.isfinite(meant)
    close = np.abs(got - meant)[finite] <= 2e-3 * np.abs(meant)[finite] + 1e-4 * np.abs(meant[finite]).max(initial=0)
    return close.all() and (np.isfinite(got) == finite).all()


def compare(tools, seed, folder, tally):
    rng = random.Random(seed)
    text = at_sizes(Drawing(rng).text(), PLANNED)
    kernel, length = emitted(tools, text, folder)
    if not kernel:
        return None
    library = os.path.join(folder, "chunks%d.so" % seed)
    wrong = tools.compile([kernel], library)
    if wrong:
        return "it does not compile: " + wrong
    code, out, err = tools.run("verify", os.path.join(folder, "chunks.nap"), "--target", "h100-sxm5", "-q", timeout=300)
    if code:
        return "verify ends with %d: %s" % (code, out + err)
    tally["in chunks"] += 1
    cases, jobs = [], []
    for at, sizes in enumerate(runs(rng, length)):
        diagram = parse(at_sizes(text, sizes))
        # Exponents of 1e9 and more have no digits left behind the point (docs/theory.md, S9).
        kind = rng.choice([one for one in data.KINDS if one != "huge" or "exp(" not in text])
        inputs = data.all_inputs(np.random.default_rng([seed, at]), kind, diagram, sizes_of(diagram, {}))
        cases.append((diagram, sizes, kind, inputs))
        jobs.append((library, "chunks", sizes_to_pass(kernel, sizes), arguments_of(kernel, diagram, sizes, inputs)))
    for (diagram, sizes, kind, inputs), (code, outputs, complaint) in zip(cases, tools.call_all(jobs, library)):
        with np.errstate(all="ignore"):
            meant = evaluate(diagram, sizes_of(diagram, {}), inputs)["Y"][1]
        if code or complaint:
            return "at %d positions: %s" % (sizes["t"], complaint or "it ends with %s" % code)
        got = outputs_of(kernel, diagram, sizes, outputs)["Y"]
        words = check.difference("Y", got, meant)
        if words and "exp(" in text and alike(got, meant.value):
            words = None
        tally["compared"] += 1
        if words:
            return "%s data at %d positions in chunks of %d: %s" % (kind, sizes["t"], length, words)
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(HERE))
    p.add_argument("--napkin", default=os.path.join(root, "build", "release", "napkin"))
    p.add_argument("--compiler", default="c++")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    options = p.parse_args()
    tally = {"in chunks": 0, "compared": 0, "failed": 0}
    with tempfile.TemporaryDirectory(prefix="napkin_chunks_") as folder:
        tools = Tools(os.path.abspath(options.napkin), options.compiler, os.path.join(root, "hardware_profiles"), folder)
        tools.prepare()
        for seed in range(options.seed, options.seed + options.count):
            try:
                words = compare(tools, seed, folder, tally)
            except Exception as error:  # of this program, or of napkin: say for which diagram
                words = "%s: %s" % (type(error).__name__, error)
            if words:
                tally["failed"] += 1
                print("%s\n%s" % (words, at_sizes(Drawing(random.Random(seed)).text(), PLANNED)), flush=True)
    print("%d diagrams, %d of them in chunks, %d results compared, %d wrong"
          % (options.count, tally["in chunks"], tally["compared"], tally["failed"]))
    return 1 if tally["failed"] or not tally["compared"] else 0


if __name__ == "__main__":
    sys.exit(main())
