"""Holds what napkin makes of one diagram against its meaning."""
import os
import random
import json
import re
from dataclasses import dataclass, field, replace

import numpy as np

import data
import diagrams
import kernels
import partitions
from language import Diagram, parse, print_diagram
from meaning import evaluate, sizes_of

left_out = set(diagrams.LEFT_OUT)  # the features that this run leaves out
# A result may be this many times as far from the exact value as the bound of plain evaluation in its format.
FACTOR = 4


@dataclass
class Failure:
    what: str  # one word or two that stay the same as the case is made smaller
    words: str
    diagram: Diagram
    machine: str = ""
    labels: list = field(default_factory=list)
    sizes: dict = field(default_factory=dict)
    kind: str = ""
    seed: int = 0
    wire: str = ""
    sanitized: bool = False


class Case:
    """A diagram with its planned sizes, its derivation, and what was computed of it so far."""

    def __init__(self, diagram, seed):
        self.diagram, self.seed = diagram, seed
        self.planned = sizes_of(diagram, {})
        self.wires = self.planned  # and those of blocks, once they are derived
        self.meanings = {}
        self.derivation = None
        self.plans = []  # (machine, labels)

    def base_axes(self):
        return [axis for axis, size in self.diagram.axes.items() if size[0] == "number"]

    def meaning(self, sizes, kind):
        """Inputs and all arrays for these sizes and this kind of data."""
        key = (tuple(sizes.items()), kind)
        if key not in self.meanings:
            generator = np.random.default_rng([self.seed, data.KINDS.index(kind), *sizes.values()])
            inputs = data.all_inputs(generator, kind, self.diagram, sizes)
            self.meanings[key] = (inputs, evaluate(self.diagram, sizes, inputs))
        return self.meanings[key]

    def failure(self, what, words, **more):
        return Failure(what, words, self.diagram, seed=self.seed, **more)


def read_derivation(case, tools):
    """The derivation of all statements as one kernel, or a failure."""
    code, out, err = tools.run("derive", "-", "--format", "json", text=print_diagram(case.diagram), timeout=60)
    if code == 1:
        return case.failure("refused", first_message(out) or err)
    if code:
        return case.failure("derive ends with %d" % code, err.strip()[-300:])
    case.derivation = json.loads(out)["kernels"][0]
    case.wires = dict(case.planned)
    for one in case.derivation.get("blocks", []):
        whole = case.planned[one["axis"].rstrip("'")]
        if whole % one["length"] != one.get("rest", 0):
            return case.failure("wrong derivation", "blocks of %d do not fill %s" % (one["length"], one["axis"]))
        case.wires.update({one["block"]: whole // one["length"], one["inside"]: one["length"]})
        if one.get("rest"):
            case.wires[one["inside"].replace("_in_block", "_in_last")] = one["rest"]
    return None


def first_message(out):
    try:
        found = json.loads(out).get("diagnostics") or [{}]
        return "%s %s" % (found[0].get("code"), found[0].get("message"))
    except (ValueError, AttributeError):
        return ""


def draw_plans(case, count, rng):
    """Partitions by hand of which the derivation says that they are possible."""
    d = case.derivation
    groupable, streamable = d["groupable"], [one["axis"] for one in d["streamable"]]
    for _ in range(count):
        if streamable and rng.random() < 0.15:
            plan = partitions.draw_parts(rng, streamable, groupable, case.wires)
        else:
            plan = partitions.draw(rng, groupable, streamable, case.wires)
        if plan[1]:
            case.plans.append(plan)


def draw_sizes(case, count, rng):
    """The planned sizes and `count` others: smaller, larger, ragged, and axes of one position."""
    base = case.base_axes()
    found = [{}]
    for at in range(count):
        most = 1 if at < count // 2 else 2
        given = {a: rng.randint(1, max(1, most * case.planned[a])) for a in base}
        if at == 0 and base:
            given = dict(given, **{rng.choice(base): 1})
        if at == count - 1:
            given = {a: case.planned[a] + rng.choice([0, 0, 1]) for a in base}
        found.append(given)
    return [sizes_of(case.diagram, given) for given in found]


def emit(case, plan, name, folder, tools):
    """The kernel of a plan, or None where the plan is refused, or a failure."""
    machine, labels = plan
    os.makedirs(folder, exist_ok=True)
    text = print_diagram(replace(case.diagram, name=name))
    code, out, err = tools.run("emit", "cpp", "-", *partitions.MACHINES[machine][0], "--partition",
                               partitions.text_of(labels), "-o", folder, text=text)
    if code == 1:
        return None
    if code:
        return case.failure("emit ends with %d" % code, err.strip()[-300:], machine=machine, labels=labels)
    return kernels.Kernel(name, folder)


@dataclass
class Job:
    """One call of one kernel."""
    case: Case
    plan: tuple
    kernel: object
    sizes: dict
    kind: str
    passed: list
    unit: str = ""
    sanitized: bool = False

    def failure(self, what, words):
        return self.case.failure(what, words, machine=self.plan[0], labels=self.plan[1], sizes=self.sizes,
                                 kind=self.kind, sanitized=self.sanitized)


def jobs_of(case, plan, kernel, all_sizes, kinds):
    return [Job(case, plan, kernel, sizes, kind, kernels.sizes_to_pass(kernel, sizes))
            for sizes, kind in zip(all_sizes, kinds)]


def judge(job, result):
    """What is wrong with the result of a call, or None; and whether the kernel ran."""
    code, outputs, complaint = result
    if code is None:
        return job.failure("crash", complaint), True
    if complaint:
        return job.failure("overrun", complaint), True
    if code:
        planned = job.sizes == job.case.planned
        return (job.failure("refuses planned sizes", "it returned %d" % code) if planned else None), False
    _, arrays = job.case.meaning(job.sizes, job.kind)
    given = kernels.outputs_of(job.kernel, job.case.diagram, job.sizes, outputs)
    for name in job.case.diagram.outputs:
        words = difference(name, given[name], arrays[name][1])
        if words:
            return job.failure("wrong numbers", words), True
    return None, True


def difference(name, got, right):
    """Where and how far a result is off, or an empty text."""
    with np.errstate(all="ignore"):
        off = np.abs(got - right.value)
        free = np.isnan(right.value) | np.isinf(right.radius)
        free |= np.isinf(right.value) & ("infinities" in left_out)
        fine = free | (got == right.value) | (off <= FACTOR * right.radius)
    if np.all(fine):
        return ""
    share = np.where(fine, -1, np.where(np.isnan(off), np.inf, off / np.maximum(right.radius, 1e-300)))
    place = np.unravel_index(np.argmax(share), share.shape)
    return "%s[%s] is %.9g where %.9g is right, to within %.3g; %d of %d values are wrong" % (
        name, ", ".join(map(str, place)), got[place], right.value[place], FACTOR * right.radius[place],
        np.sum(~fine), np.size(fine))
