#!/usr/bin/env python3
"""Random diagrams in which something kept at each position reduces what the kernel makes of those before it, split by hand so that
one kernel takes these positions in order; emitted in C++, and run at the planned and at other sizes against their meaning
in numpy. `verify` runs the plans and counts what they move, hold and compute.

    tests/oracle/in_order.py --count 400 --seed 7 --jobs 2
"""
import json
import os
import random
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

TRIES = 12  # partitions of a diagram, until one is legal


def diagram(rng, name):
    """Chunks c of w positions: what each adds, what those before it have added, and what reads that."""
    sizes = {"r": rng.randint(1, 3), "c": rng.randint(2, 7), "w": rng.randint(1, 4), "d": rng.randint(1, 4), "e": rng.randint(1, 3)}
    types = lambda: rng.choice(["f32", "f32", "f16"])  # noqa: E731
    lines = ["diagram " + name] + ["axis %s = %d" % one for one in sizes.items()]
    lines += ["axis %s = %d" % (same, sizes[of]) for same, of in (("b", "c"), ("u", "w"))]
    lines += ["input K: %s[r, c, w, d]" % types(), "input V: %s[r, c, w, e]" % types(), "input Q: %s[r, c, u, d]" % types()]
    kind = rng.choice(["plain", "plain", "decay", "fading", "fading", "max", "min", "others"])
    before = "b < c" if rng.random() < 0.7 else rng.choice(["c > b", "not (b >= c)", "b + 1 <= c"])
    if kind in ("max", "min"):
        start = "-inf" if kind == "max" else "inf"
        lines += ["S[r, c, d, e] = %s[w](K[r, c, w, d] * V[r, c, w, e])" % kind,
                  "P[r, c, d, e] = %s[b](where(%s, S[r, b, d, e], %s))" % (kind, before, start)]
        first = "0"
    elif kind == "others":  # what does not lie before counts too, and nothing is taken in order
        lines += ["S[r, c, d, e] = sum[w](K[r, c, w, d] * V[r, c, w, e])", rng.choice([
            "P[r, c, d, e] = sum[b](where(%s, S[r, b, d, e], 1))", "P[r, c, d, e] = sum[b](where(%s, S[r, b, d, e], 0) + 0.5)",
            "P[r, c, d, e] = sum[b](exp(where(%s, S[r, b, d, e], 0)))", "P[r, c, d, e] = max[b](where(%s, S[r, b, d, e], 0))"]) % before]
        first = None
    elif kind == "plain":
        added = rng.choice(["", "U[r, d, e] + ", "U[r, d, e] * "])
        if added:
            lines.append("input U: f32[r, d, e]")
        lines += ["S[r, c, d, e] = sum[w](K[r, c, w, d] * V[r, c, w, e])",
                  "P[r, c, d, e] = %ssum[b](where(%s, S[r, b, d, e], 0))" % (added, before)]
        first = None
    elif kind == "fading":  # by the same with every position, which is never reckoned from the first one
        to_end = "g[r] * (%d - w)" % (sizes["w"] - 1)
        own, reach = rng.choice([(to_end, ""), ("G[r, c, w] + " + to_end, ", c")]), "g[r] * (%d * (c - b - 1))" % sizes["w"]
        exponent, of_c, of_b = own[0], "M[r%s]" % own[1], "M[r%s]" % own[1].replace("c", "b")
        lines += ["input g: f32[r]"] + (["input G: f32[r, c, w]"] if own[1] else [])
        lines += ["%s = max[w](%s)" % (of_c, exponent), "B[r, c] = max[b](where(%s, %s + %s, -inf))" % (before, of_b, reach),
                  "S[r, c, d, e] = sum[w](K[r, c, w, d] * V[r, c, w, e] * exp(%s - %s))" % (exponent, of_c),
                  "P[r, c, d, e] = sum[b](where(%s, S[r, b, d, e] * exp(%s + %s - B[r, c]), 0))" % (before, of_b, reach)]
        first = "exp(g[r] * (u + 1) + B[r, c])"
    else:
        lines += ["input G: f32[r, c, u]", "M[r, c] = max[w](-G[r, c, w])", "B[r, c] = max[b](where(%s, M[r, b], -inf))" % before,
                  "S[r, c, d, e] = sum[w](K[r, c, w, d] * V[r, c, w, e] * exp(-G[r, c, w] - M[r, c]))",
                  "P[r, c, d, e] = sum[b](where(%s, S[r, b, d, e] * exp(M[r, b] - B[r, c]), 0))" % before]
        first = "exp(G[r, c, u] + B[r, c])"
    of_all = "sum[d](Q[r, c, u, d] * P[r, c, d, e])"
    if kind in ("max", "min"):
        of_all = "where(c > 0, %s, %s)" % (of_all, first)
    elif kind in ("decay", "fading"):
        of_all = "where(c > 0, %s * %s, 0)" % (of_all, first)
    own = rng.choice(["", " + V[r, c, u, e]", " + sum[w](where(w <= u, sum[d](Q[r, c, u, d] * K[r, c, w, d]), 0) * V[r, c, w, e])"])
    lines += ["Y: %s[r, c, u, e] = %s%s" % (types(), of_all, own), "output Y"]
    if rng.random() < 0.2:
        lines.append("output P")
    return "\n".join(lines) + "\n", kind


def partition(rng, levels, wires, sizes, ordered):
    """Labels at each level; `ordered` is streamed by 1 at one of them at least."""
    at = rng.choice(levels)
    lengths, parts, streamed = {}, [], set()
    for level in levels:
        groups = [wire for wire in wires if wire != ordered and wire not in streamed and rng.random() < 0.25]
        streams = [wire for wire in wires if wire != ordered and rng.random() < 0.3]
        if level == at or rng.random() < 0.15:
            streams.insert(rng.randint(0, len(streams)), ordered)
        for kind, some in (("group", groups), ("stream", streams)):
            for wire in some:
                whole = lengths.get(wire, sizes[wire.rstrip("'")])
                lengths[wire] = 1 if wire == ordered else rng.randint(1, whole)
                parts.append("%s %s %d at %s" % (kind, wire, lengths[wire], level))
        streamed.update(streams)
    return "; ".join(parts)


class Case:
    def __init__(self, seed, tools):
        self.seed, self.rng, self.name, self.kernel = seed, random.Random(seed), "in_order%d" % seed, None
        self.text, self.kind = diagram(self.rng, self.name)
        self.diagram = parse(self.text)
        self.sizes = sizes_of(self.diagram, {})
        self.derived = json.loads(self.ask(tools, "derive", "--format", "json")[1])["kernels"][0]
        self.wires = sorted({one["axis"] for one in self.derived["streamable"]} | set(self.derived.get("groupable", [])))
        self.ordered = next((one["axis"] for one in self.derived["streamable"] if "S9" in one["rules"]), None)

    def ask(self, tools, command, *more):
        return tools.run(*command.split(), "-", "-q", *more, text=self.text, timeout=300)

    def is_special(self):
        return self.kernel is not None

    def described(self):
        return " ".join(getattr(self, "labels", []))

    def prepare(self, tools, folder):
        """Emits. What is wrong; a case without a legal partition has no kernel."""
        if not self.ordered:
            return None if self.kind == "others" else "no axis is taken in order"
        for _ in range(TRIES):
            machine, levels = MACHINES[self.rng.choice(list(MACHINES))]
            self.labels = [*machine, "--partition", partition(self.rng, levels, self.wires, self.sizes, self.ordered)]
            code, _, err = self.ask(tools, "emit cpp", *self.labels, "-o", folder, "--force")
            if code == 0:
                self.kernel = Kernel(self.name, folder)
                return self.counted(tools)
            if "error[E03" not in err:
                return "emit ends with %d: %s" % (code, err)
        return None

    def counted(self, tools):
        code, out, err = self.ask(tools, "verify", *self.labels, "--format", "json")
        if code not in (0, 3):
            return "verify ends with %d: %s" % (code, out + err)
        report = json.loads(out)
        if report["faults"]:
            return report["faults"][0]
        for kernel in report["kernels"]:
            if kernel["predicted_operations"] != kernel["counted_operations"] or not all(level["matches"] for level in kernel["levels"]):
                return "counts differ: %s" % kernel
        for one in report["outputs"]:
            for run in (one, one["exact"]):
                if not run["ok"] and not (run["numbers"] == "huge" and "exp(" in self.text):
                    return "%s is wrong: %s" % (one["array"], run)
        return None

    def calls(self, library):
        for at in range(3):
            given = {} if at == 0 else {axis: self.rng.randint(1, size) for axis, size in self.sizes.items()}
            for same, of in (("b", "c"), ("u", "w")):
                if given:
                    given[same] = given[of]
            sizes = sizes_of(self.diagram, given)
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
            if words:
                return "%s: %s" % (where, words), True
        return None, True


if __name__ == "__main__":
    sys.exit(together.main(Case, __doc__, "split by hand"))
