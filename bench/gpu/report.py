"""Measured cases as a table in Markdown, and as a picture: how many times as fast a kernel is as the best other one.

A measured case is a dictionary: name, group, predicted_s (by column of napkin's, or None), seconds and error (by
column), missing (why a column is not there, by column), and for rows that memory bounds copy_share.
"""

OURS = "napkin"
WRONG = 0.01  # relative error, of f16 with sums in f32


def is_ours(column):
    return column.startswith(OURS)


def right(case, ours):
    """Seconds of our columns, or of the others, whose results are right."""
    return {column: seconds for column, seconds in case["seconds"].items()
            if is_ours(column) == ours and case["error"][column] <= WRONG}


def best(case, ours):
    """The fastest of them: name and seconds, or None."""
    return min(right(case, ours).items(), key=lambda one: one[1], default=None)


def ratio(case):
    """Above 1: faster than the best other one."""
    ours, other = best(case, True), best(case, False)
    return other[1] / ours[1] if ours and other else None


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.3f}"


def rows(case):
    """A row of the table for each of our columns: what it is, and how many times as fast as every other one."""
    share = case.get("copy_share")
    for column in right(case, True) or [None]:
        seconds = case["seconds"].get(column)
        times = ", ".join(f"{name} {other / seconds:.2f}" for name, other in right(case, False).items()) if seconds else ""
        yield [case["name"], column or "-", milliseconds(seconds), milliseconds(case["predicted_s"].get(column)), times or "-",
               f"{share:.0%}" if share is not None else ""]


def table(cases):
    head = ["case", "kernel", "ms", "predicted ms", "times as fast as", "of copy"]
    lines = [head, ["---"] * len(head)] + [row for case in cases for row in rows(case)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def wrong(cases):
    return [f"{case['name']}: {column} is off by {error:.1%}" for case in cases
            for column, error in case["error"].items() if error > WRONG]


def missing(cases):
    reasons = {}
    for case in cases:
        for column, reason in case["missing"].items():
            reasons.setdefault((column, reason), []).append(case["name"])
    return [f"{column}: {reason} ({len(names)} of {len(cases)} cases)" for (column, reason), names in reasons.items()]


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def picture(cases, title):
    """A bar for each case that has a ratio, and a line at 1."""
    shown = [(case["name"], ratio(case)) for case in cases if ratio(case)]
    row, left, width = 18, 190, 420
    scale = width / max([times for _, times in shown] + [1.2])
    height = 40 + row * len(shown)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {height + 10}" '
             'font-family="sans-serif" font-size="11">', f'<text x="8" y="16">{escape(title)}</text>']
    for i, (name, times) in enumerate(shown):
        y = 30 + i * row
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
                     f'<rect x="{left}" y="{y}" width="{times * scale:.1f}" height="{row - 5}" fill="#4878a8"/>'
                     f'<text x="{left + times * scale + 4:.1f}" y="{y + 11}">{times:.2f}</text>')
    parts.append(f'<path d="M{left + scale:.1f} 24V{height}" stroke="#a04040" stroke-dasharray="3 2"/></svg>')
    return "\n".join(parts) + "\n"
