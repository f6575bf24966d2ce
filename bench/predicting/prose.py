"""Numbers in the words of bench/predictions.head.md: {WHAT KEY=VALUE,VALUE ...} is told of the rows that have one of the
values (with _ for spaces) for every key; KEY<=NUMBER and KEY>=NUMBER compare. A key in capitals is a constant of kernels.py, as in errors.py."""
import math, re, statistics

import errors


def percent(share):
    return f"{math.floor(100 * abs(share) + 0.5)}"


def too_long(made):
    return [seconds / errors.published_seconds(row) - 1 for row, seconds in made]


def left_to_the_host(made):
    """Microseconds of what is published, without what is predicted of the kernel itself."""
    stated = lambda row: float(re.search(r"limits\.launch=([\d.]+) us", row["settings"]).group(1))
    return [1e6 * (errors.published_seconds(row) - seconds) + stated(row) for row, seconds in made]


def ticks(made, tick=1.024e-6):
    return [row for row, _ in made if abs(errors.published_seconds(row) / tick - round(errors.published_seconds(row) / tick)) < 5e-3]


WHATS = {
    "rows": lambda made: str(len(made)),
    "ticks": lambda made: str(len(ticks(made))),
    "slowest": lambda made: percent(max(too_long(made))),
    "fastest": lambda made: percent(min(too_long(made))),
    "median": lambda made: percent(statistics.median(too_long(made))),
    "span": lambda made: " to ".join(sorted((percent(one(map(abs, too_long(made)))) for one in (min, max)), key=int)),
    "host": lambda made: f"{statistics.median(left_to_the_host(made)):.0f}",
    "shortest": lambda made: f"{1e3 * min(errors.published_seconds(row) for row, _ in made):.2f}",
    "longest": lambda made: f"{1e3 * max(errors.published_seconds(row) for row, _ in made):.2f}",
}


def has(row, key, sign, value):
    if sign == "=":
        return row[key].replace(" ", "_") in value.split(",")
    return bool(row[key]) and (float(row[key]) <= float(value) if sign == "<=" else float(row[key]) >= float(value))


def told(rows, predictions, what, conditions):
    parts = [re.fullmatch(r"(\w+)(=|<=|>=)(\S+)", one).groups() for one in conditions.split()]
    here = [row for row in rows if all(has(row, *one) for one in parts if not one[0].isupper())]
    constant = next((one for one in parts if one[0].isupper()), None)
    made = (errors.with_constant(here, predictions, constant[0], constant[2]) if constant
            else errors.predicted(here, predictions))
    if not made:
        raise SystemExit(f"no row is {conditions}")
    return WHATS[what](made)


def filled(text, rows, predictions):
    return re.sub(r"\{(\w+) ([^}]*)\}", lambda one: told(rows, predictions, *one.groups()), text)
