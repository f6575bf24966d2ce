"""Predicted beside measured: a point for each case, along logarithms, coloured by what the model says bounds it."""
import math

COLOURS = ("#3b6ea5", "#b5533c", "#5c8a4d", "#8a6bb0", "#b08a2e", "#4f8f8f", "#777777")
SIDE, LEFT, TOP, RIGHT = 460, 70, 40, 230


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def bound_of(row):
    return row["bounds"].split(",")[0] or "unknown"


def ends(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


class Plane:
    def __init__(self, values):
        self.low, self.high = ends(values)

    def at(self, seconds):
        return (math.log10(seconds) - self.low) / (self.high - self.low) * SIDE

    def x(self, seconds):
        return LEFT + self.at(seconds)

    def y(self, seconds):
        return TOP + SIDE - self.at(seconds)

    def grid(self):
        for power in range(self.low, self.high + 1):
            seconds, label = 10.0**power, f"{10.0**(power + 6):g} us"
            x, y = self.x(seconds), self.y(seconds)
            yield (f'<path d="M{x:.1f} {TOP}v{SIDE}M{LEFT} {y:.1f}h{SIDE}" stroke="#ddd" fill="none"/>'
                   f'<text x="{x:.1f}" y="{TOP + SIDE + 16}" text-anchor="middle">{label}</text>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        yield f'<path d="M{LEFT} {TOP + SIDE}L{LEFT + SIDE} {TOP}" stroke="#999" stroke-dasharray="4 3"/>'


def points(rows, plane, colours):
    for row in rows:
        times = f'{row["seconds"] * 1e6:.1f} us, predicted {row["predicted_s"] * 1e6:.1f} us'
        shown, x, y = f'{row["case"]}, {row["kernel"]}: {times}', plane.x(row["predicted_s"]), plane.y(row["seconds"])
        hollow = "none" if "single" in row["kernel"] else colours[bound_of(row)]
        yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{hollow}" '
               f'stroke="{colours[bound_of(row)]}"><title>{escape(shown)}</title></circle>')


def legend(colours):
    for number, (bound, colour) in enumerate(colours.items()):
        y = TOP + 10 + 18 * number
        yield (f'<rect x="{LEFT + SIDE + 14}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
               f'<text x="{LEFT + SIDE + 30}" y="{y}">{escape(bound)}</text>')


def picture(rows, title):
    """Hollow points are kernels for single warps; above the line is slower than predicted."""
    rows = [row for row in rows if row["predicted_s"]]
    begin = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + SIDE + RIGHT} {TOP + SIDE + 40}" '
             f'font-family="sans-serif" font-size="11"><text x="8" y="18" font-size="13">{escape(title)}</text>')
    if not rows:
        return begin + f'<text x="{LEFT}" y="{TOP + 20}">nothing was timed</text></svg>\n'
    plane = Plane([row["seconds"] for row in rows] + [row["predicted_s"] for row in rows])
    bounds = sorted({bound_of(row) for row in rows})
    colours = {bound: COLOURS[number % len(COLOURS)] for number, bound in enumerate(bounds)}
    labels = (f'<text x="{LEFT + SIDE / 2}" y="{TOP + SIDE + 34}" text-anchor="middle">predicted</text>'
              f'<text x="14" y="{TOP + SIDE / 2}" transform="rotate(-90 14 {TOP + SIDE / 2})" '
              'text-anchor="middle">measured</text>')
    return "\n".join([begin, *plane.grid(), labels, *points(rows, plane, colours), *legend(colours), "</svg>", ""])
