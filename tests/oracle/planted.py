"""Plants errors in what napkin makes and asks whether the oracle notices each: an oracle that lets everything pass is none."""
import collections
import copy
import os
import random
import re

import check
import derived
import fullest
import held
import kernels
import nests
import partitions
import transfers
from language import parse

# Diagrams, each with a partition, whose kernels have what errors are planted in.
CASES = [
    ("""diagram attention
axis q = 9
axis x = 13
axis d = 6
input Q: f32[q, d]
input K: f32[x, d]
input V: f32[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d])
O[q, d] = sum[x](softmax[x](where(x <= q + 2, S[q, x] / sqrt(size(d)), -inf)) * V[x, d])
output O
""", "avx2", "group q 4 at l2; stream x 5 at l1; stream x 2 at reg"),
    ("""diagram moments
axis q = 7
axis x = 17
input A: f32[q, x]
V[q] = var[x](A[q, x])
output V
""", "toy", "group q 2 at smem; stream x 5 at smem"),
    ("""diagram exponentials
axis q = 7
axis x = 17
input A: f32[q, x]
L[q] = logsumexp[x](0.5 * A[q, x])
output L
""", "toy", "group q 2 at smem; stream x 5 at smem"),
    ("""diagram window
axis x = 15
axis w = 3
axis c = 5
axis y = x + w - 1
input A: f64[c, y]
input B: f64[c, w]
P: f64[x] = sum[c, w](A[c, x + w] * B[c, w]) / 3
output P
""", "avx2", "group x 6 at l2; stream c 2 at l1"),
]
# What is planted: a name, what is looked for in a line of the kernel, and what stands there instead.
ERRORS = [
    ("a sum is off by 1e-4", r"\+= (.*);", lambda m: "+= (%s) * 1.0001f;" % m[1]),
    ("a factor is off by 1e-4", r"(?<![\w.])(\d*\.\d*[1-9]\d*)(f?)(?![\w.])", lambda m: "%.9g%s" % (float(m[1]) * 1.0001, m[2])),
    ("a state is not repaired", r"^(\s*)\w+(\[.*\])? \*= \w+(\[.*\])?;", lambda m: m[1] + ";"),
    ("a bound is one short", r"< (\w+_n); \+\+", lambda m: "< %s - 1; ++" % m[1]),
    ("a piece is one short", r"= std::min\((\d+), (.*?)\);", lambda m: "= std::min(%s, %s - 1);" % (m[1], m[2])),
    ("a stream stops early", r"< n\.(\w+); (\w+) \+= (\d+)", lambda m: "< n.%s - %s; %s += %s" % (m[1], m[3], m[2], m[3])),
    ("a mask is shifted", r"<= \((\w+) \+ 2\)", lambda m: "<= (%s + 1)" % m[1]),
    ("something is written beyond the end", r"^(\s*)([A-Z]\w*)\[([^\]]*)\] = (\w*_\S*|\S*\[.*\]);(?=.*$)", lambda m: "%s%s[(%s) + 1] = %s;" % (m[1], m[2], m[3], m[4])),
]


def mutants(text):
    """Texts with one error each: (name of the error, text)."""
    lines = text.split("\n")
    begin = next(at for at, line in enumerate(lines) if line.startswith("template <bool full>"))
    end = next(at for at, line in enumerate(lines) if line.startswith("// Whether the kernels hold"))
    for name, pattern, change in ERRORS:
        for at in range(begin, end):
            if "//" in lines[at] and "stream" not in lines[at]:
                continue
            changed, count = re.subn(pattern, change, lines[at], count=1)
            if count and changed != lines[at]:
                yield name, at, "\n".join(lines[:at] + [changed] + lines[at + 1:])


def planted_kernels(run, folder):
    """How many of each error are noticed, and those that are not: (name, line)."""
    planted, noticed, missed = collections.Counter(), collections.Counter(), []
    for number, (text, machine, labels) in enumerate(CASES):
        case = check.Case(parse(text), number)
        check.read_derivation(case, run.tools)
        plan = (machine, partitions.parse(labels))
        whole = os.path.join(folder, "case%d" % number)
        kernel = check.emit(case, plan, "planted", whole, run.tools)
        with open(kernel.source()) as source:
            original = source.read()
        sizes = check.draw_sizes(case, 5, random.Random(number))
        jobs = check.jobs_of(case, plan, kernel, sizes, ["ordinary", "alternating", "offset", "ordinary", "ordinary", "ordinary"])
        if run_mutant(run, jobs, kernel, original, whole):
            raise RuntimeError("the kernel itself of %s is wrong" % case.diagram.name)
        for name, at, changed in mutants(original):
            planted[name] += 1
            if run_mutant(run, jobs, kernel, changed, whole):
                noticed[name] += 1
            else:
                missed.append((name, case.diagram.name, original.split("\n")[at].strip()))
    return planted, noticed, missed


def run_mutant(run, jobs, kernel, text, folder):
    with open(kernel.source(), "w") as out:
        out.write(text)
    library = os.path.join(folder, "mutant%d.so" % abs(hash(text)))
    if run.tools.compile([kernel], library):
        return False
    calls = [(library, kernel.name, job.passed, kernels.arguments_of(kernel, job.case.diagram, job.sizes,
                                                                      job.case.meaning(job.sizes, job.kind)[0])) for job in jobs]
    results = run.tools.call_all(calls, library)
    os.remove(library)
    return any(check.judge(job, result)[0] for job, result in zip(jobs, results))


def planted_programs(run):
    """The same of the programs of streams: every repair is left out in turn."""
    planted, noticed = 0, 0
    for number, (text, _, _) in enumerate(CASES):
        case = check.Case(parse(text), number)
        check.read_derivation(case, run.tools)
        whole = copy.deepcopy(case.derivation)
        for stream, one in enumerate(whole["streamable"]):
            for part in ("absorb", "merge"):
                for at, line in enumerate(one[part]):
                    if not re.search(r"r'? \* ", line):
                        continue
                    case.derivation = copy.deepcopy(whole)
                    case.derivation["streamable"] = [case.derivation["streamable"][stream]]
                    case.derivation["streamable"][0][part][at] = re.sub(r"r'? \* ", "", line, count=1)
                    planted += 1
                    line = case.derivation["streamable"][0][part][at]
                    found = any(derived.check(case, random.Random(seed), collections.Counter()) for seed in range(6))
                    noticed += found
                    if not found:
                        print("    not noticed: a repair left out of a program, in %s: %s" % (case.diagram.name, line))
    return planted, noticed


def planted_counts(run):
    """One value more or less at one level."""
    planted = noticed = 0
    for seed in range(6):
        family = transfers.Family(random.Random(seed))
        right = transfers.by_level
        try:
            transfers.by_level = lambda kernel: ([{name: n + 1 for name, n in level.items()} for level in right(kernel)[0]], right(kernel)[1])
            case = check.Case(parse(family.text()), seed)
            counts = collections.Counter()
            found = transfers.check(case, random.Random(seed), run.tools, counts, 4)
        finally:
            transfers.by_level = right
        planted += counts["partitions counted"]
        noticed += len(found)
    return planted, noticed


def planted_memory(run, change):
    """Other numbers of what memories hold than napkin gives; `change` tells those of a kernel, or None to leave it."""
    counts, right, noticed = collections.Counter(), fullest.compare_kernel, 0

    def lying(kernel, text, arrays, levels, *rest, **more):
        walk = held.Walk(nests.Nest(text, [level.name for level in levels], arrays.wires), levels, arrays.sizes, arrays.formats)
        wrong = change(kernel, walk)
        counts["planted"] += wrong != kernel
        return right(wrong, text, arrays, levels, *rest, **more) if wrong != kernel else ("", "")

    try:
        fullest.compare_kernel = lying
        for seed in range(40):
            case = check.Case(parse(CASES[0][0]), seed)
            noticed += len(fullest.check(case, random.Random(seed), run.tools, counts, 6))
    finally:
        fullest.compare_kernel = right
    return counts["planted"], noticed


def one_value_more(kernel, walk):
    """At the last level."""
    wrong = copy.deepcopy(kernel)
    wrong["levels"][-1]["memory_values"] += 1
    return wrong


def nobody_waits(kernel, walk):
    """What one group holds, for what all hold that one child works on."""
    wrong = copy.deepcopy(kernel)
    for at, level in enumerate(wrong["levels"], 1):
        level["memory_values"], level["memory_bytes"] = walk.fullest(at, alone=True)
    return wrong


def self_test(run):
    """Prints what was planted and what was noticed; 1 where too little was."""
    planted, noticed, missed = planted_kernels(run, os.path.join(run.options.folder, "planted"))
    fine = True
    for name in planted:
        print("%3d of %3d noticed: %s" % (noticed[name], planted[name], name))
        fine = fine and noticed[name] >= 0.8 * planted[name]
    for one in missed:
        print("    not noticed: %s, in %s: %s" % one)
    for name, (count, found) in (("a repair left out of a program", planted_programs(run)), ("a count off by one", planted_counts(run)),
                                 ("a value more in a memory", planted_memory(run, one_value_more)),
                                 ("groups that wait for nothing", planted_memory(run, nobody_waits))):
        print("%3d of %3d noticed: %s" % (found, count, name))
        fine = fine and found >= 0.8 * count > 0
    return 0 if fine and len(planted) == len({name for name, _, _ in ERRORS}) else 1
