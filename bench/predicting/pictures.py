"""Predicted over published times as a picture, drawn by napkin's charts."""
import subprocess

from errors import group, published_seconds


def plot(rows, answers, program):
    made = [(row, one) for row, one in zip(rows, answers) if not isinstance(one, str)]
    lines = sorted(f"{group(row)}\t{published_seconds(row)!r}\t{predicted!r}\t{int(bool(row['held']))}\n"
                   for row, predicted in made)
    return subprocess.run([program.with_name("napkin_predicted")], input="".join(lines), text=True, check=True,
                          stdout=subprocess.PIPE).stdout
