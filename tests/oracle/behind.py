#!/usr/bin/env python3
"""Random sums along an axis that arrays go on behind, as `sum[i, c](K[64*c + i, d] * V[64*c + i, e])`, in partitions by hand:
kernels for the H100, emulated at random sizes, most of which are no multiple of a piece, against their harness.

    tests/oracle/behind.py --napkin build/release/napkin --emulation build/release/tests/emulation --count 100 --seed 7

A launcher may take warpgroups or single warps; the result has to be right, and warpgroups have to run now and then.
"""
import argparse
import glob
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=c++17", "-Og", "-Wno-unknown-pragmas", "-Wno-psabi", "-fno-strict-aliasing", "-fPIC"]
PARTITIONS = ["group e 64, d 64, stream c 1 at smem; group d 16 at reg",
              "group e 64, d 64, stream c 1, i 16 at smem; group d 16 at reg",
              "group e 32, d 64, stream i 16, c 1 at smem; group d 16 at reg",
              "group e 64, d 128, stream c 1, i 32 at smem; group d 16 at reg"]


def compile(options, folder, arguments):
    subprocess.run([options.compiler, *FLAGS, *arguments], cwd=folder, check=True)


def build(options, folder, text, partition):
    """The harness of a diagram in a folder; None where no kernel has the partition."""
    with open(os.path.join(folder, "behind.nap"), "w") as file:
        file.write(text)
    command = [options.napkin, "emit", "cuda", "behind.nap", "--target", "h100-sxm5", "--partition", partition, "-o", ".", "--force", "-q"]
    if subprocess.run(command, cwd=folder, capture_output=True).returncode:
        return None
    for source in ("behind.cu", "behind_harness.cu"):
        compile(options, folder, ["-I", os.path.join(ROOT, "tests/cuda/emulation"), "-include",
                                  os.path.join(options.emulation, "plain.hpp"), "-x", "c++", "-c", source, "-o", source + ".o"])
    compile(options, folder, ["behind.cu.o", "behind_harness.cu.o", *glob.glob(os.path.join(options.emulation, "plain_*.o")), "-o", "harness"])
    return os.path.join(folder, "harness")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=os.path.join(ROOT, "build/release/napkin"))
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--emulation", required=True, help="the folder of the emulation's objects")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.napkin, options.emulation = os.path.realpath(options.napkin), os.path.realpath(options.emulation)
    rng = random.Random(options.seed)
    runs = by_warpgroups = wrong = 0
    for _ in range(options.count):
        i, c, offset = rng.choice([16, 32, 64]), rng.choice([4, 8, 64]), rng.choice([0, 0, 3, 8])
        axes = "; ".join(rng.sample(["axis c = %d" % c, "axis i = %d" % i], 2))
        at = "%d*c + i%s" % (i, " + %d" % offset if offset else "")
        text = ("diagram behind\naxis t = %d; %s; axis d = 128; axis e = 64\ninput K: f16[t, d]; input V: f16[t, e]\n"
                "S: f32[d, e] = sum[i, c](K[%s, d] * V[%s, e])\noutput S\n") % (i * c + offset, axes, at, at)
        partition = rng.choice(PARTITIONS)
        with tempfile.TemporaryDirectory() as folder:
            harness = build(options, folder, text, partition)
            for _ in range(4 if harness else 0):
                blocks, inside = rng.randint(1, min(c, 6)), rng.choice([i, rng.randint(1, i)])
                length = (i * (blocks - 1) + inside + offset + 7) // 8 * 8
                sizes = ["c=%d" % blocks, "i=%d" % inside, "t=%d" % length, "d=%d" % rng.choice([40, 64, 72]), "e=40"]
                ran = subprocess.run([harness, *sizes, "--path", "any"], capture_output=True, text=True)
                runs, by_warpgroups = runs + 1, by_warpgroups + ("path: warpgroups" in ran.stdout)
                if ran.returncode:
                    wrong += 1
                    print("wrong at %s, %s:\n%s%s%s" % (" ".join(sizes), partition, text, ran.stdout, ran.stderr))
    print("%d runs, %d by warpgroups, %d wrong" % (runs, by_warpgroups, wrong))
    sys.exit(1 if wrong or not by_warpgroups else 0)


if __name__ == "__main__":
    main()
