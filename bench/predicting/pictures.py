"""Predicted over published times, as an SVG."""
import math

from errors import group, published_seconds

COLORS = ["#1f5fa8", "#c2542d", "#2d8659", "#7a4fa3", "#a8891f", "#5b6770", "#b03a6f", "#3aa0a0", "#7d5a3c", "#445fd0",
          "#94a83a", "#000000"]


def plot(rows, answers):
    made = [(row, one) for row, one in zip(rows, answers) if not isinstance(one, str)]
    size, low, high = 480, 3, 9  # powers of ten, in nanoseconds
    place = lambda seconds: (math.log10(seconds * 1e9) - low) / (high - low) * size
    colors = dict(zip(sorted({group(row) for row, _ in made}), COLORS))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-60 -20 {size + 320} {size + 70}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect x="0" y="0" width="{size}" height="{size}" fill="none" stroke="#888"/>',
             f'<line x1="0" y1="{size}" x2="{size}" y2="0" stroke="#888"/>']
    for power in range(low, high + 1):
        at, label = (power - low) / (high - low) * size, f"1e{power - 9} s"
        lines.append(f'<text x="{at:.0f}" y="{size + 16}" text-anchor="middle">{label}</text>')
        lines.append(f'<text x="-6" y="{size - at + 4:.0f}" text-anchor="end">{label}</text>')
    for row, predicted in made:
        color = colors[group(row)]
        look = f'fill="none" stroke="{color}"' if row["held"] else f'fill="{color}" fill-opacity="0.6"'
        lines.append(f'<circle cx="{place(published_seconds(row)):.1f}" cy="{size - place(predicted):.1f}" r="3.5" {look}/>')
    for i, (name, color) in enumerate(colors.items()):
        lines.append(f'<circle cx="{size + 16}" cy="{20 * i + 12}" r="4" fill="{color}"/>')
        lines.append(f'<text x="{size + 26}" y="{20 * i + 16}">{name}</text>')
    lines.append(f'<text x="{size + 10}" y="{20 * len(colors) + 24}">rings: held out</text>')
    lines.append(f'<text x="{size / 2}" y="{size + 40}" text-anchor="middle">published</text>')
    lines.append('<text x="-50" y="-8">predicted</text></svg>')
    return "\n".join(lines) + "\n"
