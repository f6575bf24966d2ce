#!/usr/bin/env python3
"""Random sums along an axis that arrays go on behind, as `sum[i, c](K[64*c + i, d] * V[64*c + i, e])`, in partitions by hand:
kernels for the H100, emulated at random sizes, most of which are no multiple of a piece, against their meaning.

    tests/oracle/behind.py --napkin build/release/napkin --emulation build/release/tests/emulation --count 100 --seed 7

A launcher may take warpgroups or single warps; the result has to be right, and warpgroups have to run now and then.
"""
import random
import sys
import tempfile

import numpy as np

import data
import emulated
from language import parse, print_diagram
from meaning import sizes_of

PARTITIONS = ["group e 64, d 64, stream c 1 at smem; group d 16 at reg",
              "group e 64, d 64, stream c 1, i 16 at smem; group d 16 at reg",
              "group e 32, d 64, stream i 16, c 1 at smem; group d 16 at reg",
              "group e 64, d 128, stream c 1, i 32 at smem; group d 16 at reg"]


def drawn(rng):
    """A diagram; the lengths of i and c; and where the arrays begin to be read."""
    i, c, offset = rng.choice([16, 32, 64]), rng.choice([4, 8, 64]), rng.choice([0, 0, 3, 8])
    axes = "; ".join(rng.sample(["axis c = %d" % c, "axis i = %d" % i], 2))
    at = "%d*c + i%s" % (i, " + %d" % offset if offset else "")
    text = ("diagram d\naxis t = %d; %s; axis d = 128; axis e = 64\ninput K: f16[t, d]; input V: f16[t, e]\n"
            "S: f32[d, e] = sum[i, c](K[%s, d] * V[%s, e])\noutput S\n") % (i * c + offset, axes, at, at)
    return parse(text), i, c, offset


def drawn_sizes(rng, diagram, i, c, offset):
    """Fewer blocks, of which the last may be shorter: the arrays go on behind it up to a multiple of 16 bytes, or not."""
    blocks, inside = rng.randint(1, min(c, 6)), rng.choice([i, rng.randint(1, i)])
    length = (i * (blocks - 1) + inside + offset + 7) // 8 * 8
    return sizes_of(diagram, {"c": blocks, "i": inside, "t": length, "d": rng.choice([40, 64, 72]), "e": 40})


def main():
    options = emulated.options_of(__doc__)
    rng = random.Random(options.seed)
    runs = by_warpgroups = wrong = 0
    for _ in range(options.count):
        diagram, i, c, offset = drawn(rng)
        partition = rng.choice(PARTITIONS)
        with tempfile.TemporaryDirectory() as folder:
            program = emulated.Emulated(options, folder, diagram)
            for _ in range(4 if program.build("h100-sxm5", partition) else 0):
                sizes = drawn_sizes(rng, diagram, i, c, offset)
                inputs = data.all_inputs(np.random.default_rng([rng.randrange(1 << 30)]), "ordinary", diagram, sizes)
                result = program.call(sizes, inputs)
                found = emulated.differences(diagram, sizes, inputs, result[1]) if result else ["the launcher refuses"]
                runs, by_warpgroups, wrong = runs + 1, by_warpgroups + ("warpgroups" in (result or [""])[0]), wrong + bool(found)
                if found:
                    print("wrong at %s, %s: %s\n%s" % (sizes, partition, "; ".join(found), print_diagram(diagram)))
    print("%d runs, %d by warpgroups, %d wrong" % (runs, by_warpgroups, wrong))
    sys.exit(1 if wrong or not by_warpgroups else 0)


if __name__ == "__main__":
    main()
