#!/usr/bin/env python3
"""Random reductions of what lies before or behind a position, planned in chunks of random lengths, emitted in C++ and run at
the planned and at other sizes against their meaning. What `analyze` says of them is held against what must be so: results
leave once. `verify` runs the plans and counts what they move, hold and compute, to the last byte.

    tests/oracle/chunks.py --count 400 --seed 7 --jobs 2
"""
import json
import os
import random
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import check  # noqa: E402
import data  # noqa: E402
import together  # noqa: E402
from kernels import Kernel, arguments_of, outputs_of, sizes_to_pass  # noqa: E402
from language import parse  # noqa: E402
from meaning import evaluate, sizes_of  # noqa: E402
from partitions import MACHINES  # noqa: E402
from prefixes import Drawing  # noqa: E402


class Case:
    """A diagram and a machine; its kernel, once that is emitted."""

    def __init__(self, seed, _tools):
        self.seed, self.rng = seed, random.Random(seed)
        drawing = Drawing(self.rng)
        self.chunk, self.name = drawing.chunk, "chunks%d" % seed
        self.text = drawing.text().replace("diagram d\n", "diagram %s\n" % self.name)
        self.diagram = parse(self.text)
        self.sizes = sizes_of(self.diagram, {})
        self.machine = MACHINES[self.rng.choices(["toy", "two-level", "avx2"], weights=[12, 6, 1])[0]][0]  # the last searches longest
        self.kernel = None

    def prepare(self, tools, folder):
        """Emits; what is wrong."""
        return self.emit(tools, folder) or self.counted(tools)

    def is_special(self):
        return self.sizes["t"] % self.chunk > 0

    def described(self):
        return "chunks of %d, %s" % (self.chunk, " ".join(self.machine))

    def planned(self, tools, command, *more):
        return tools.run(*command.split(), "-", *self.machine, "--chunks", str(self.chunk), "-q", *more, text=self.text, timeout=300)

    def emit(self, tools, folder):
        code, _, err = self.planned(tools, "emit cpp", "-o", folder, "--force")
        if code:
            return "emit ends with %d: %s" % (code, err)
        self.kernel = Kernel(self.name, folder)
        return None

    def counted(self, tools):
        """What is wrong with the counts."""
        code, out, err = self.planned(tools, "verify", "--format", "json")
        if code not in (0, 3):
            return "verify ends with %d: %s" % (code, out + err)
        words = self.unverified(json.loads(out))
        if words:
            return "verify says " + words
        code, out, err = self.planned(tools, "analyze", "--format", "json")
        if code:
            return "analyze ends with %d: %s" % (code, err)
        report = json.loads(out)
        if not report["prefixes"]:
            return "the plan has no chunks"
        for name in self.diagram.outputs:
            values = int(np.prod([self.sizes[axis] for axis in self.diagram.statement(name).axes], dtype=int))
            saved = sum(array["transfer_values"] for kernel in report["kernels"] for array in kernel["levels"][0]["arrays"]
                        if array["times_written"] and re.fullmatch(name + r"(_last\w*)?", array["array"]))
            if saved != values:
                return "%d values of %s leave, which has %d" % (saved, name, values)
        return None

    def unverified(self, report):
        """What `verify` found wrong. Exponents of 1e9 and more have no digits left behind the point (docs/theory.md, S9)."""
        if report["faults"]:
            return report["faults"][0]
        for kernel in report["kernels"]:
            if kernel["predicted_operations"] != kernel["counted_operations"]:
                return "%(predicted_operations)s operations are predicted and %(counted_operations)s counted" % kernel
            for level in kernel["levels"]:
                if not (level["matches"] and level["fits"]):
                    return "of %s: %s" % (kernel["statements"], level)
        for one in report["outputs"]:
            for run in (one, one["exact"]):
                if not run["ok"] and not (run["numbers"] == "huge" and "exp(" in self.text):
                    return "%s is wrong: %s" % (one["array"], run)
        return None

    def runs(self):
        """The planned sizes; then with as many whole chunks, but another last one, or with fewer of them."""
        whole, rest = divmod(self.sizes["t"], self.chunk)
        others = [whole * self.chunk + self.rng.randint(1, rest) if rest else self.rng.randint(1, whole) * self.chunk for _ in range(3)]
        for positions in [self.sizes["t"], *others]:
            given = {axis: positions for axis in "txs" if axis in self.sizes}
            if positions != self.sizes["t"]:
                given.update({axis: self.rng.randint(1, self.sizes[axis]) for axis in "rde" if axis in self.sizes})
            yield sizes_of(self.diagram, given)

    def calls(self, library):
        for at, sizes in enumerate(self.runs()):
            # Exponents of 1e9 and more have no digits left behind the point (docs/theory.md, S9).
            kind = self.rng.choice([one for one in data.KINDS if one != "huge" or "exp(" not in self.text])
            inputs = data.all_inputs(np.random.default_rng([self.seed, at]), kind, self.diagram, sizes)
            yield sizes, kind, inputs, (library, self.name, sizes_to_pass(self.kernel, sizes), arguments_of(self.kernel, self.diagram, sizes, inputs))

    def judged(self, sizes, kind, inputs, result):
        """What is wrong with one result; and whether the kernel ran."""
        code, outputs, complaint = result
        where = "%s data at %s" % (kind, sizes)
        if code is None or complaint:
            return "%s: %s" % (where, complaint), True
        if code:
            return ("%s: it returned %d" % (where, code) if sizes == self.sizes else None), False
        with np.errstate(all="ignore"):
            meant = evaluate(self.diagram, sizes, inputs)
        got = outputs_of(self.kernel, self.diagram, sizes, outputs)
        for name in self.diagram.outputs:
            words = check.difference(name, got[name], meant[name][1])
            if words and not ("exp(" in self.text and alike(got[name], meant[name][1].value)):
                return "%s: %s" % (where, words), True
        return None, True


def alike(got, meant):
    """Far positions have exponents of hundreds, whose rounding is left in a decay (docs/theory.md, S9)."""
    finite = np.isfinite(meant)
    close = np.abs(got - meant)[finite] <= 2e-3 * np.abs(meant)[finite] + 1e-4 * np.abs(meant[finite]).max(initial=0)
    return close.all() and (np.isfinite(got) == finite).all()


if __name__ == "__main__":
    sys.exit(together.main(Case, __doc__, "with a shorter last chunk"))
