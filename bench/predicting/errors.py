"""Predicted against published: tables by group, rankings, what the constants are worth, every row."""
import math, statistics

import kernels

# What was chosen with published rows in sight, or is nobody's measurement: where it stands, values to try, what it is.
VARIED = [
    ("limits.unhidden", ("0.2", "0.6"), "the share of what unsynchronised blocks could hide of each other that they do not hide"),
    ("limits.registers_for_addresses", ("10", "25"), "registers of a thread that hold no array"),
    ("limits.masked_end", ("0.25", "1"), "the part of each resident block for which an SM waits at the end, if masks make blocks differ"),
    ("TRANSPOSED", (1 / 3, 1 / 10), "share of the bandwidth that PyTorch's transposing copy reaches"),
    ("BROADCAST", (60, 120), "instructions of a value in PyTorch's addition of a mask"),
    ("ENDS", ("one",), "prologue and epilogue of FlashAttention-3, whose blocks are persistent: counted once per SM instead of once per output tile"),
    ("TRITON_STAGES", (2, 4), "stages of keys and values in Triton's kernel"),
]
PROFILE = [("h100-sxm5", "compute.tensor.instructions.wgmma.latency", ("64 clk", "256 clk")),
           ("h100-sxm5", "compute.tensor.sustained_fraction.f16", ("0.75", "0.85")),
           ("h100-sxm5", "caches.l2.bandwidth.sustained", ("5.5 TB/s", "10 TB/s")),
           ("a100-sxm4-80", "compute.tensor.sustained_fraction.f16", ("0.87",))]
CLOSE = 0.03  # rates that differ by less are ranked by little
GRID = ("0.2", "0.3", "0.4", "0.5", "0.6")


def published_work(row):
    """What the paper counts: 4 S^2 d h b, 3.5 times that with the backward pass, half of it where causal; 2 m n k."""
    if row["op"] == "attention":
        work = 4 * int(row["seq"]) ** 2 * int(row["head_dim"]) * int(row["heads"]) * int(row["batch"])
        return work * (0.5 if row["causal"] == "true" else 1) * (3.5 if row["direction"] == "fwd+bwd" else 1)
    if row["op"] == "gemm":
        return 2 * int(row["m"]) * int(row["n"]) * int(row["k"])
    width = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4}[row["dtype"]]
    return (1 if row["op"] == "sum" else 2) * int(row["m"]) * int(row["n"]) * width


def published_seconds(row):
    scale = {"ms": None, "TFLOPS": 1e12, "GB/s": 1e9}[row["unit"]]
    return published_work(row) / float(row["value"]) / scale if scale else float(row["value"]) * 1e-3


def group(row):
    kernel = row["kernel"].replace(" (PyTorch, masks and dropout)", " (PyTorch)")
    if row["op"] == "attention":
        return f"{kernel.replace(' attention', '')}, " + ("forward" if row["direction"] == "fwd" else "with backward")
    if row["op"] == "gemm":
        return "matrix product"
    return row["op"] + (", PyTorch" if kernel.startswith("PyTorch") else ", others")


def shape(row):
    if row["op"] == "attention":
        causal = ", causal" if row["causal"] == "true" else ""
        return f"{row['batch']} x {row['heads']} x {row['seq']} x {row['head_dim']}{causal}"
    return " x ".join(row[one] for one in ("m", "n", "k") if row[one])


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def tau(pairs):
    """Kendall's: of all pairs of rows, those ranked alike less those ranked otherwise."""
    signs = [math.copysign(1, a * b) for a, b in pairs if a and b]
    return f"{sum(signs) / len(signs):.2f}" if signs else "-"


def rates(made):
    return [(published_work(row) / seconds, published_work(row) / published_seconds(row)) for row, seconds in made]


def all_pairs(made):
    both = rates(made)
    return [(a[0] - b[0], a[1] - b[1]) for i, a in enumerate(both) for b in both[:i]]


def pairs_that_differ(made, name):
    """Of attention, rows of one kernel that differ in one thing alone; its batch and heads follow from the others."""
    keys = ("kernel", "profile", "direction", "head_dim", "causal", "seq")
    by_rest, found = {}, []
    for one, rate in zip(made, rates(made)):
        if one[0]["op"] == "attention":
            by_rest.setdefault(tuple(one[0][key] for key in keys if key != name), []).append(rate)
    for alike in by_rest.values():
        found += [(a[0] / b[0] - 1, a[1] / b[1] - 1) for i, a in enumerate(alike) for b in alike[:i]]
    return found


def errors(made):
    return [abs(seconds / published_seconds(row) - 1) for row, seconds in made]


def percent(value):
    return f"{100 * value:.1f} %"


def figures(made):
    all_errors = errors(made)
    return f"{len(made)} | {percent(statistics.median(all_errors))} | {percent(quantile(all_errors, 0.9))}"


def predicted(rows, predictions, settings=()):
    return [(row, one) for row, one in zip(rows, predictions(rows, settings)) if not isinstance(one, str)]


def by_group(made):
    lines = ["| group | rows | median error | 90th percentile | Kendall's tau |", "| --- | --- | --- | --- | --- |"]
    for name in sorted({group(row) for row, _ in made}):
        here = [one for one in made if group(one[0]) == name]
        lines.append(f"| {name} | {figures(here)} | {tau(all_pairs(here))} |")
    mixed = [pair for name in {group(row) for row, _ in made}
             for pair in all_pairs([one for one in made if group(one[0]) == name])]
    return lines + [f"| **all** | {figures(made)} | {tau(mixed)} |"]


def rankings(used, held):
    lines = ["| ranking of | chosen with | held out |", "| --- | --- | --- |"]
    for name, words in (("head_dim", "head widths"), ("causal", "causal or not"), ("seq", "sequence lengths")):
        for least in (0, CLOSE):
            both = [tau([pair for pair in pairs_that_differ(made, name) if abs(pair[1]) > least]) for made in (used, held)]
            words += f", of pairs that are published {percent(CLOSE)} apart or more" if least else ""
            lines.append(f"| {words} | {both[0]} | {both[1]} |")
    return lines


def with_constant(rows, predictions, name, value):
    if name.startswith("limits."):
        return predicted(rows, predictions, (f"{name}={value}",))
    before = getattr(kernels, name)
    setattr(kernels, name, value)
    made = predicted(rows, predictions)
    setattr(kernels, name, before)
    return made


def constants(rows, predictions):
    lines = ["| constant | rows | median error | 90th percentile |", "| --- | --- | --- | --- |",
             f"| as they are | {figures(predicted(rows, predictions))} |"]
    for name, values, what in VARIED:
        for value in values:
            shown = f"{value:.2f}" if isinstance(value, float) else value
            lines.append(f"| `{name.lower()}={shown}`: {what} | {figures(with_constant(rows, predictions, name, value))} |")
    return lines


def profiles(rows, predictions):
    lines = ["| changed | rows | median error | 90th percentile |", "| --- | --- | --- | --- |"]
    for profile, path, values in PROFILE:
        here = [row for row in rows if row["profile"] == profile and path not in row["settings"]]
        lines.append(f"| {profile} as it is | {figures(predicted(here, predictions))} |")
        for value in values:
            lines.append(f"| `{path}={value}` | {figures(predicted(here, predictions, (f'{path}={value}',)))} |")
    return lines


# Of the peak, what `mma.sync` could sustain on an H100: at the clock of `wgmma`, between, and at the full clock.
CLOCKS = ("0.54", "0.58", "0.65")


def widths(rows, predictions):
    """FlashAttention-2's full attention on an H100: the median error of each width, whatever the clock."""
    here = [row for row in rows if row["kernel"] == "FlashAttention-2" and row["profile"] == "h100-sxm5"
            and row["direction"] == "fwd" and row["causal"] == "false"]
    all_widths = sorted({int(row["head_dim"]) for row in here})
    lines = ["| share | " + " | ".join(f"width {one}" for one in all_widths) + " |", "| --- " * (len(all_widths) + 1) + "|"]
    for share in CLOCKS:
        path = "compute.tensor.sustained_fraction.f16="
        changed = [row | {"settings": ";".join(path + share if one.startswith(path) else one
                                               for one in row["settings"].split(";"))} for row in here]
        made = predicted(changed, predictions)
        cells = [statistics.median(seconds / published_seconds(row) - 1 for row, seconds in made
                                   if int(row["head_dim"]) == one) for one in all_widths]
        lines.append(f"| {share} | " + " | ".join(f"{100 * cell:+.1f} %" for cell in cells) + " |")
    return lines


def folds(rows, predictions):
    """`unhidden` chosen without one group, and that group's error with it."""
    shared = [row for row in rows if row["op"] == "softmax" or (row["op"] == "attention" and "-3" not in row["kernel"])]
    made = {value: predicted(shared, predictions, (f"limits.unhidden={value}",)) for value in GRID}
    fold = lambda row: f"{group(row)}, {row['profile']}"
    lines = ["| left out | chosen without it | its median error | 90th percentile |", "| --- | --- | --- | --- |"]
    for name in sorted({fold(row) for row, _ in made[GRID[0]]}):
        def of_the_others(value):
            others = [one for one in made[value] if fold(one[0]) != name and not one[0]["held"]]
            return statistics.mean(statistics.median(errors([one for one in others if fold(one[0]) == other]))
                                   for other in {fold(row) for row, _ in others})
        best = min(GRID, key=of_the_others)
        here = [one for one in made[best] if fold(one[0]) == name]
        lines.append(f"| {name} | {best} | {' | '.join(figures(here).split(' | ')[1:])} |")
    return lines


def every_row(made):
    lines = ["| kernel | machine | direction | shape | published | predicted | error | held out |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for row, seconds in made:
        published = published_seconds(row)
        lines.append(f"| {row['kernel']} | {row['profile']} | {row['direction']} | {shape(row)} | {1e3 * published:.4g} ms "
                     f"| {1e3 * seconds:.4g} ms | {100 * (seconds / published - 1):+.1f} % | {'yes' if row['held'] else ''} |")
    return lines


def not_predicted(rows, answers):
    why = {}
    for row, answer in zip(rows, answers):
        if isinstance(answer, str):
            why.setdefault(answer, set()).add(f"{row['kernel']} ({row['direction']})")
    return [f"- {', '.join(sorted(names))}: {answer}." for answer, names in sorted(why.items())]


def changed(rows, predictions):
    """What constants and numbers of profiles are worth; most of the time of a page."""
    chosen = [row for row in rows if not row["held"]]
    return [["## Constants", "", "These constants are in no profile. Each is changed alone, over the rows of the first table:", ""],
            constants(chosen, predictions), ["", "These numbers of profiles are each changed alone:", ""],
            profiles(chosen, predictions), ["", "`unhidden` is the one constant of the model that kernels of several groups share. The table gives it as "
            f"chosen from {', '.join(GRID)} without a group, and the error of all rows of that group with it:", ""],
            folds(rows, predictions), ["", "This table has FlashAttention-2's full attention on an H100 for other shares of the peak that `mma.sync` "
            "might sustain, with the clock of lanes and shared memory that follows:", ""],
            widths(rows, predictions), [""]]


def page(rows, predictions, with_changed=True):
    answers = predictions(rows)
    made = [(row, one) for row, one in zip(rows, answers) if not isinstance(one, str)]
    used, held = [one for one in made if not one[0]["held"]], [one for one in made if one[0]["held"]]
    parts = [["## By group", "", "These rows were seen when rules and constants were chosen:", ""], by_group(used),
             ["", "These rows were held out. They are predicted, and were never used to choose a number:", ""], by_group(held), [""],
             rankings(used, held), ["", "![predicted over published](predictions.svg)", ""]]
    if with_changed:
        parts += changed(rows, predictions)
    parts += [["## Row by row", ""], every_row(made), ["", "## Not predicted", ""], not_predicted(rows, answers)]
    return "\n".join(line for part in parts for line in part) + "\n"
