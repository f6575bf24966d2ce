#!/usr/bin/env python3
"""Every quantity of a launch has one number in the whole report: the page of `analyze` says in text and in HTML what JSON
says, JSON agrees with itself, no share passes 100 %, no memory moves more than its bandwidth allows, and a page of one kernel has
at most 45 lines. Before that it
changes every number of one page, and expects to be told.

    tests/report/one_number.py --napkin build/release/napkin
    tests/report/one_number.py --examples attention.nap --machines h100-sxm5
"""
import argparse
import concurrent.futures
import functools
import html
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/planned"))
import planned  # noqa: E402

MACHINES = ["h100-sxm5", "a100-sxm4-80", "rtx4090"]
MOST_LINES = 45
NAMES = {"gmem": "DRAM", "reg": "registers", "l2": "L2"}


def run(options, example, machine, form, *more):
    known = None if more else planned.read(options.planned, example, machine, form)
    if known is not None:
        return known
    words = [options.napkin, "analyze", example, "--target", machine, "--format", form, "-q", *more]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=900)
    if ran.returncode:
        raise RuntimeError("%s: exit %d\n%s" % (" ".join(words), ran.returncode, ran.stderr))
    return ran.stdout


# ---- numbers as the program writes them ----

def digits(number):
    size = abs(number)
    return "%.*f" % (2 if size < 9.995 else 1 if size < 99.95 else 0, number)


def scaled(number, units, whole):
    factor, name = [unit for unit in units if abs(number) >= unit[0] * 0.9995 or unit is units[0]][-1]
    value = number / factor
    exact = (factor == 1 or whole) and value == math.floor(value)
    text = "%.0f" % value if exact else digits(value)
    return text + " " + name if name else text


def seconds(number):
    return scaled(number, [(1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1, "s")], False)


def moved(number):
    return scaled(number, [(1000 ** k, name) for k, name in enumerate(["B", "kB", "MB", "GB", "TB"])], False)


def held(number):
    return scaled(number, [(1024 ** k, name) for k, name in enumerate(["B", "KiB", "MiB", "GiB"])], True)


def counted(number):
    return scaled(number, [(1000 ** k, name) for k, name in enumerate(["", "k", "M", "G", "T", "P"])], False)


def flop(number):
    text = counted(number)
    return text + ("FLOP" if " " in text else " FLOP")


def share(part, whole):
    percent = 100 * part / whole
    return "<1 %" if 0 < percent < 1 else "%.0f %%" % percent


def memory(name):
    return " -> ".join(NAMES.get(one, one) for one in name.split(" -> "))


def ratio(number):
    rounded = round(number * 100) / 100
    if number >= 1e6:
        return "%.3g" % number
    return "%.0f" % rounded if rounded == math.floor(rounded) else "%.*f" % (2 if number < 100 else 1, number)


def arrays(crossing):
    """The first three, as they stand behind the bytes of a crossing."""
    if all(one["times"] <= 1.005 for one in crossing["arrays"]):
        return ""
    return " " + ", ".join("%s%s %s" % (one["array"], " out" if one["saved"] else "", moved(one["bytes"])) +
                           (" (%sx)" % ratio(one["times"]) if one["times"] > 1.005 else "")
                           for one in crossing["arrays"][:3])


# ---- what the page must say, by JSON ----

def expected(report):
    """Pieces of text that must stand in the page, each in a line that begins a certain section."""
    kernels, totals, summary = report["kernels"], report["totals"], report["summary"]
    time = totals["time_s"]
    longest = max(kernels, key=lambda kernel: kernel["time_s"])
    tile = longest["tile"]
    found = [("", "%s predicted" % seconds(time))]
    useful, executed = flop(summary["useful_operations"]), flop(summary["executed_operations"])
    same = useful == executed or summary["executed_operations"] <= summary["useful_operations"] * 1.005
    found.append(("", useful + " needed and executed" if same else "%s needed, %s executed" % (useful, executed)))
    found.append(("TILE", "%d block%s on %d SM" % (tile["blocks"], "" if tile["blocks"] == 1 else "s", tile["cores"])))
    if tile["waves"]:
        found.append(("TILE", "%d wave" % tile["waves"]))
    if tile["waves"] and tile["last_wave_busy"] < 0.995:
        found.append(("TILE", "the last %s full" % share(tile["last_wave_busy"], 1)))
    if tile["registers_per_thread"]:
        found.append(("TILE", "%d registers/thread" % tile["registers_per_thread"]))
    found.append(("TILE", "%s smem/block" % held(tile["shared_bytes"])))
    if tile["blocks_per_core"]:
        found.append(("TILE", "%d block%s/SM fit" % (tile["blocks_per_core"], "" if tile["blocks_per_core"] == 1 else "s")))
    for cause in [dict(one, what=one["what"].replace("idle cores", "idle SMs")) for one in summary["causes"]]:
        found.append(("TIME", "%s %s %s" % (memory(cause["what"]), seconds(cause["seconds"]), share(cause["seconds"], time))))
    for one in summary["traffic"]:
        found.append(("TRAFFIC", "%s %s%s" % (memory(one["from"] + " -> " + one["to"]), moved(one["bytes"]), arrays(one))))
    for unit, part in summary["unit_shares"].items():
        found.append(("UNITS", "%s %s" % (unit, share(part, 1))))
    for kernel in kernels:
        for product in kernel["products"]:
            if product["unit"] == "tensor":
                found.append(("UNITS", product["instruction"] or "tensor"))
    for product in summary["lost"]:
        in_parts = product["unit"] == "tensor"
        found.append(("UNITS", "twice" if in_parts else "%s lanes: %s" % (product["unit"], product["why_not"])))
        if product["mend"]:
            found.append(("CHANGE", " ".join(product["mend"].split())))
    if len(kernels) > 1:
        for kernel in kernels:
            found.append(("KERNELS", "%s %s" % (seconds(kernel["time_s"]), share(kernel["time_s"], time))))
    else:
        found.append(("TILE", '--partition "%s"' % longest["partition_text"]))
    return found


def sections(page):
    """The text of each section, by its title, with single spaces."""
    made, title = {"": ""}, ""
    for line in page.splitlines():
        if line.startswith("more: "):
            break
        start = re.match(r"[A-Z]{3,}", line[:10])
        title = start[0] if start else title
        made[title] = made.get(title, "") + " " + re.sub(r" +", " ", line[len(start[0]) if start else 0:]).strip()
    return made


def against_text(report, page):
    parts, found = sections(page), []
    for title, words in expected(report):
        within = parts.get(title, "")
        if not re.search(r"(?<![\w.])" + re.escape(re.sub(r" +", " ", words)) + r"(?![\d.])", within):
            found.append("%s does not say `%s`" % (title or "the head", words))
    for percent in re.findall(r"(?<![+\-\d.])(\d+) %", page):
        if int(percent) > 100:
            found.append("%s %%" % percent)
    if len(report["kernels"]) == 1 and len(page.splitlines()) > MOST_LINES:
        found.append("%d lines" % len(page.splitlines()))
    return found


# ---- JSON with itself ----

def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-30)


def of_kernel(kernel):
    """Pairs of numbers that are one quantity, by what it is."""
    time, made = kernel["time_s"], kernel["configuration"]
    yield "causes", sum(cause["seconds"] for cause in kernel["causes"]), time
    for unit in kernel["units"]:
        if unit["time_s"] is not None:
            yield "share of " + unit["unit"], kernel["unit_shares"][unit["unit"]] * time, unit["time_s"]
    tensor = [unit["operations"] for unit in kernel["units"] if unit["unit"] == "tensor"]
    every = [unit["operations"] for unit in kernel["units"]]
    if not kernel["of_products"]:
        yield "operations", kernel["executed_operations"], sum(every)
    elif not any(product["lost"] for product in kernel["products"]):
        yield "operations", kernel["executed_operations"], sum(tensor)
    level = kernel["levels"][0]
    yield "cache", kernel["cache_bytes"] if kernel["cache_bytes"] is not None else kernel["dram_bytes"], level["transfer_bytes"]
    yield "blocks", kernel["tile"]["blocks"], level["groups"]
    if not made:
        return
    chosen = next(one for one in made["pipelinings"] if one["overlap"] == made["chosen"])
    yield "shared memory", kernel["tile"]["shared_bytes"], chosen["shared_bytes"]
    allocated = chosen["occupancy"]["as_allocated"]
    yield "registers", kernel["tile"]["registers_per_thread"], allocated["registers_per_thread"]
    yield "blocks of a core", kernel["tile"]["blocks_per_core"], allocated["blocks"]
    yield "warps", kernel["tile"]["warps"], made["teams"] * made["team_warps"]
    yield "stages", kernel["tile"]["stages"], chosen["stages"]
    yield "launch", made["launch"]["time_s"], time
    yield "waves", kernel["tile"]["waves"], made["launch"]["waves"]


@functools.lru_cache(maxsize=None)
def fastest(napkin, machine):
    """Bytes per second at most from memory and from the cache in front of it; None where the profile has no number."""
    ran = subprocess.run([napkin, "targets", machine, "--format", "json"], capture_output=True, text=True, check=True)
    target = json.loads(ran.stdout)
    numbers = {one["path"]: one["value"] for one in target["numbers"] if "value" in one}

    def most(path):
        rates = [value for name, value in numbers.items() if name in (path + ".datasheet", path + ".sustained")]
        return max(rates, default=None)

    level = target["levels"][1]["name"]
    caches = sorted({name.split(".")[1] for name in numbers if name.startswith("caches.")})
    return most("levels.%s.bandwidth" % level), most("caches.%s.bandwidth" % caches[0]) if caches else None


def too_fast(report, rates):
    """What a kernel moves from memory or from the cache faster than the profile allows."""
    for at, kernel in enumerate(report["kernels"], 1):
        for what, rate in zip(("dram_bytes", "cache_bytes"), rates):
            if rate and kernel[what] and kernel[what] > kernel["time_s"] * rate * (1 + 1e-9):
                yield "kernel %d: %s in %.4g s are more than %.4g B/s" % (at, what, kernel["time_s"], rate)


def against_itself(report):
    found, summary = [], report["summary"]
    products = any(unit["unit"] == "tensor" and unit["operations"] for k in report["kernels"] for unit in k["units"])
    for at, kernel in enumerate(report["kernels"], 1):
        kernel["of_products"] = products
        found += ["kernel %d: %s %r and %r" % (at, *one) for one in of_kernel(kernel) if not near(*one[1:])]
        found += ["kernel %d: %s takes %.1f %%" % (at, unit, 100 * part)
                  for unit, part in kernel["unit_shares"].items() if part > 1 + 1e-9]
        found += ["kernel %d: %s runs on matrix units without an instruction" % (at, product["result"])
                  for product in kernel["products"] if product["unit"] == "tensor" and not product["instruction"]]
        if kernel["useful_operations"] > kernel["executed_operations"]:
            found.append("kernel %d: more operations useful than executed" % at)
        if kernel["cache_bytes"] is not None and kernel["dram_bytes"] > kernel["cache_bytes"] * (1 + 1e-9):
            found.append("kernel %d: more from memory than through the cache" % at)
    for key in ("executed_operations", "dram_bytes"):
        of_all = sum(kernel[key] for kernel in report["kernels"])
        if not near(of_all, summary[key]):
            found.append("%s: %r of kernels, %r of the plan" % (key, of_all, summary[key]))
    for what, a, b in (("time", sum(k["time_s"] for k in report["kernels"]), report["totals"]["time_s"]),
                       ("causes", sum(cause["seconds"] for cause in summary["causes"]), report["totals"]["time_s"])):
        if not near(a, b):
            found.append("%s of the plan: %r and %r" % (what, a, b))
    return found


def words_of(text):
    """What stands between tags, with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def sections_of_html(text):
    """As `sections` gives them of text: what stands above the first one, and each by its title."""
    made = {"": words_of(" ".join(re.findall(r'<p class="lead">(.*?)</p>', text, re.S)))}
    for title, rows in re.findall(r'<section data-title="([A-Z]+)"><h2>[A-Z]+</h2>(.*?)</section>', text, re.S):
        made[title] = words_of(rows)
    return made


def facts_against(made, text):
    """Facts of the header that the page below it does not say."""
    facts = [words_of(one) for one in re.findall(r"<dd>(.*?)</dd>", text.partition('<dl class="facts">')[2].partition("</dl>")[0])]
    whole = " ".join(made.values())
    return ["the header says `%s`" % fact for fact in facts if fact not in whole] + (["no facts"] if len(facts) < 2 else [])


def check(options, example, machine):
    report = json.loads(run(options, example, machine, "json"))
    page = run(options, example, machine, "text")
    found = against_itself(report) + against_text(report, page) + list(too_fast(report, fastest(options.napkin, machine)))
    if options.html:
        text = run(options, example, machine, "html")
        shown, said = sections_of_html(text), sections(page)
        for title in sorted(set(shown) | set(said)):
            # Text has bars of marks, and above all sections a heading of its own.
            expected_words = " ".join(re.sub(r"(?<!\S)#+(?!\S)", " ", said.get(title, "")).split())
            same = expected_words.endswith(shown.get(title, "")) if title == "" else expected_words == shown.get(title)
            if not same or not shown.get(title):
                found.append("%s: HTML says `%s`, text `%s`" % (title or "the head", shown.get(title), expected_words))
        found += facts_against(shown, text)
    return found


def numbers_of(page):
    """Where numbers stand that JSON has: not in names of instructions, sizes and advice."""
    parts = re.split(r"^(?=[A-Z]{4,} )", page, flags=re.M)
    at = 0
    for part in parts:
        if part.startswith(("TILE", "TIME", "TRAFFIC")):
            for one in re.finditer(r"(?<![\w.\"])\d+(\.\d+)?(?= (us|ms|MB|kB|GB|KiB|%|registers|smem|blocks?\b))", part):
                yield at + one.start(), at + one.end()
        at += len(part)


def self_test(options, example, machine):
    """Numbers of the page, one changed at a time, each of which must be noticed."""
    report = json.loads(run(options, example, machine, "json"))
    page = run(options, example, machine, "text")
    missed, tried = [], 0
    for begin, end in list(numbers_of(page)):
        line = page[page.rfind("\n", 0, begin) + 1:page.find("\n", end)]
        changed = page[:begin] + str(int(float(page[begin:end])) + 7) + page[end:]
        tried += 1
        if not against_text(report, changed):
            missed.append(line.strip())
    for key in ("useful_operations", "executed_operations", "dram_bytes", "cache_bytes"):
        other = json.loads(json.dumps(report))
        other["kernels"][0][key] = other["kernels"][0][key] * 2 + 1
        tried += 1
        if not against_itself(other):
            missed.append(key)
    tried += 1
    if not list(too_fast(report, (1.0, None))):
        missed.append("too fast")
    print("%d numbers changed, %d not noticed" % (tried, len(missed)))
    return ["not noticed: " + line for line in missed] + (["too few numbers"] if tried < 15 else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=os.path.join(ROOT, "build/release/napkin"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-html", dest="html", action="store_false")
    parser.add_argument("--examples", nargs="*",
                        default=sorted(one for one in os.listdir(os.path.join(ROOT, "examples")) if one.endswith(".nap")))
    parser.add_argument("--machines", nargs="*", default=MACHINES)
    parser.add_argument("--planned", help="a folder that planned.py wrote: each example on the first machine that it has there")
    options = parser.parse_args()
    matmul = os.path.join(ROOT, "examples", "matmul.nap")
    failed = 0
    for line in self_test(options, matmul, "h100-sxm5"):
        print(line)
        failed += 1
    jobs = [(os.path.join(ROOT, "examples", example), machine) for example in options.examples
            for machine in (planned.machines_of(example)[-1:] if options.planned else options.machines)]
    jobs += [(os.path.join(ROOT, "tests/report/latent_attention.nap"), machine) for machine in options.machines[:1]]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (example, machine), found in zip(jobs, pool.map(lambda job: check(options, *job), jobs)):
            failed += bool(found)
            for line in found:
                print("%s on %s: %s" % (os.path.basename(example), machine, line))
    print("%d reports compared, %d disagree" % (len(jobs), failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
