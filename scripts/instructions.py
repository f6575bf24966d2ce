#!/usr/bin/env python3
"""Counts the instructions of the main loops of kernels for single warps in the machine code of ptxas, and fits what the
model assumes of them to these counts: docs/cuda.md, instructions of single warps. Counts what lanes need, too, to copy rows
through registers.

usage: scripts/instructions.py [--print] [PROGRAM]     PROGRAM is build/release/napkin if not given

It takes nvcc, and some minutes. --print names each kernel, and leaves the document alone.

Kernels are compiled for compute capability 9.0, whose instructions have 16 bytes: 12 bits of operation, and above bit 105
what the assembler schedules (clocks until the next instruction, and barriers that it waits for). NVIDIA does not publish
this. It is as independent disassemblers describe it, and of products the counts of `mma`, `ldmatrix` and copies must be
those of the tiles. The path through a loop is the one with most copies and no loop inside, which is the path of whole tiles;
through registers, the one that reads most bytes.
"""
import collections, concurrent.futures, os, pathlib, re, shutil, statistics, struct, subprocess, sys, tempfile

root = pathlib.Path(__file__).resolve().parent.parent
nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
begin, end = "<!-- instructions: scripts/instructions.py -->\n", "<!-- end of instructions -->\n"
BRANCH, COPY, MATRICES, PRODUCT, READ, WRITE = 0x947, 0xFAE, 0x83B, 0x23C, (0x381, 0x981), (0x388, 0x988)

PRODUCT_OF = """diagram product
axis m = 4096; axis n = {n}; axis k = 4096
input A: f16[m, k]; input B: f16[k, n]
C: f16[m, n] = sum[k](A[m, k] * B[k, n])
output C
"""
# What comes through registers: a diagram, a partition, and the pieces that a lane has on their way.
THROUGH = {
    "16 bytes of rows that are aligned to 2": (PRODUCT_OF.format(n=4097), "group m 64, n 128, stream k 64 at smem; group m 32, n 64 at reg", 2),
    "16 numbers of 4 bits": (PRODUCT_OF.format(n=4096).replace("B: f16[k, n]", "B: i4[n, k]").replace("B[k, n]", "B[n, k]"),
                             "group m 64, n 128, stream k 64 at smem; group m 32, n 64 at reg", 2),
    "a number along another dimension, of four": (
        """diagram columns
axis q = 4096; axis x = 4096; axis d = 64
input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, d]; input b: f16[x, q]
P: f16[q, x] = sum[d](Q[q, d] * K[x, d]) + b[x, q]
O: f16[q, d] = sum[x](P[q, x] * V[x, d])
output O
""", "group q 64, stream x 64 at smem; group q 16 at reg", 4),
}
ATTENTION = (root / "examples/attention.nap").read_text()
TILES = [(64, 64, 32, 32, 32), (64, 64, 64, 32, 32), (64, 128, 32, 32, 64), (128, 64, 32, 32, 64), (128, 64, 64, 64, 32),
         (128, 128, 32, 64, 64), (128, 128, 64, 64, 64), (32, 64, 64, 16, 64), (32, 32, 128, 16, 32), (16, 64, 64, 16, 16),
         (128, 128, 64, 32, 128), (256, 64, 32, 64, 64)]


def cases():
    """Title, diagram, partition, and the copies, `mma` and `ldmatrix` of a lane; 4096 and 4100 are rows aligned to 16 bytes and to 8."""
    for n, aligned in ((4096, 16), (4100, 8)):
        for m, j, k, warp_m, warp_j in TILES:
            lanes = m // warp_m * (j // warp_j) * 32
            yield (f"{m} x {j} x {k}, n {n}", PRODUCT_OF.format(n=n),
                   f"group m {m}, n {j}, stream k {k} at smem; group m {warp_m}, n {warp_j} at reg",
                   (-(-m * k * 2 // 16 // lanes) - (-k * j * 2 // aligned // lanes),
                    warp_m // 16 * (warp_j // 8) * (k // 16), (warp_m + warp_j) // 16 * (k // 16)))
    for q, x in ((64, 32), (64, 64), (128, 64)):
        yield (f"attention {q} x {x}", ATTENTION, f"group q {q}, stream x {x} at smem; group q 16 at reg",
               (2 * x * 128 * 2 // 16 // (q // 16 * 32), None, None))


def code(cubin):
    """The machine code of each kernel."""
    data = cubin.read_bytes()
    table, size, count, names = *struct.unpack_from("<Q", data, 0x28), *struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    for name, _, _, _, offset, length, *_ in sections:
        at = sections[names][4] + name
        if data[at:].startswith(b".text."):
            yield data[offset:offset + length]


class Instruction:
    def __init__(self, at, low, high):
        self.at, self.operation = at, low & 0xFFF
        self.stall, self.waits = max(1, high >> 41 & 15), high >> 52 & 63 != 0
        further = (low >> 34 & 0x3FFFFFFF | (high & 0x3FFFF) << 30) << 8 | low >> 16 & 0xFF
        further -= 1 << 56 if further >> 55 else 0
        self.target = at + 1 + further // 4 if self.operation == BRANCH else None
        self.bytes = (1, 1, 2, 2, 4, 8, 16, 16)[high >> 9 & 7] if self.operation in READ else 0
        self.always = self.operation == BRANCH and low >> 12 & 15 == 7


def decoded(text):
    return [Instruction(i // 16, *struct.unpack_from("<QQ", text, i)) for i in range(0, len(text) // 16 * 16, 16)]


def path(loop, inner, weight):
    """The instructions of a loop on the way that enters no loop inside and weighs most, and of equals the shortest."""
    first, last = loop[0].at, loop[-1].at
    inside = {i for a, b in inner if first <= a and b <= last and (a, b) != (first, last) for i in range(a, b + 1)}
    best = {last: (0, 0, None)}  # by instruction: weight, fewest instructions, and the one after it
    for one in reversed(loop[:-1]):
        if one.at in inside:
            continue
        after = [] if one.always else [one.at + 1]
        after += [one.target] if one.target is not None and one.target > one.at else []
        known = [(best[i][0], best[i][1], i) for i in after if i in best]
        if known:
            all_, fewer, following = max(known)
            best[one.at] = all_ + weight(one), fewer - 1, following
    found, at = [], first
    while at is not None:
        found.append(loop[at - first])
        at = best[at][2]
    return found


def main_loop(text):
    """The path through the loop with most products."""
    all_ = decoded(text)
    loops = [(one.target, one.at) for one in all_ if one.target is not None and 0 <= one.target < one.at]
    products = lambda span: sum(one.operation == PRODUCT for one in all_[span[0]:span[1] + 1])
    copies = lambda span: sum(one.operation == COPY for one in all_[span[0]:span[1] + 1])
    outer = max((span for span in loops if products(span) and copies(span)), key=lambda span: span[1] - span[0])
    return path(all_[outer[0]:outer[1] + 1], loops, lambda one: one.operation == COPY)


def compiled(program, text, partition):
    """The machine code of the first kernel; None where the partition does not fit."""
    with tempfile.TemporaryDirectory() as folder:
        diagram = pathlib.Path(folder, "diagram.nap")
        diagram.write_text(text)
        name = re.search(r"^diagram (\w+)", text, re.M)[1]
        emitted = subprocess.run([program, "emit", "cuda", diagram, "--target", "a100-sxm4-80", "-o", folder, "--partition", partition],
                                 capture_output=True, text=True)
        if emitted.returncode:
            return None
        subprocess.run([nvcc, "-arch=sm_90", "-cubin", name + ".cu", "-o", "kernel.cubin"], cwd=folder, check=True, capture_output=True)
        return next(code(pathlib.Path(folder, "kernel.cubin")))


def measured(job):
    program, (title, text, partition, (copies, products, matrices)) = job
    machine_code = compiled(program, text, partition)
    if machine_code is None:
        return None
    found = main_loop(machine_code)
    counts = collections.Counter(one.operation for one in found)
    if counts[COPY] != copies:
        return None  # more than eight copies of a tile are a loop, which the path leaves out
    if products is not None and (counts[PRODUCT], counts[MATRICES]) != (products, matrices):
        sys.exit(f"{title}: {counts[PRODUCT]} mma and {counts[MATRICES]} ldmatrix, where the tile needs {products} and {matrices}")
    others = [one for one in found if one.operation not in (PRODUCT, MATRICES)]
    return dict(title=title, copies=counts[COPY], matrices=counts[MATRICES], products=counts[PRODUCT], others=len(others),
                computes=products is None, stall=sum(one.stall for one in others) / len(others),
                waits=sum(one.waits for one in others))


def through_registers(program, text, partition, at_once):
    """Instructions for each of the pieces that a lane has on their way, in the longest loop that reads and writes them."""
    all_ = decoded(compiled(program, text, partition))
    loops = [(one.target, one.at) for one in all_ if one.target is not None and 0 <= one.target < one.at]
    has = lambda span, operations: any(one.operation in operations for one in all_[span[0]:span[1] + 1])
    reading = [span for span in loops if has(span, READ) and has(span, WRITE) and not has(span, (PRODUCT, COPY))]
    first, last = max(reading, key=lambda span: span[1] - span[0])
    return len(path(all_[first:last + 1], loops, lambda one: one.bytes)) / at_once


def fitted(rows):
    """Least squares of others = a + b copies. All load two tiles in an iteration."""
    xs, ys = [row["copies"] for row in rows], [row["others"] for row in rows]
    slope = statistics.covariance(xs, ys) / statistics.variance(xs)
    return statistics.mean(ys) - slope * statistics.mean(xs), slope


def main():
    words = [word for word in sys.argv[1:] if word != "--print"]
    program = pathlib.Path(words[0] if words else root / "build/release/napkin").resolve()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for row in pool.map(measured, [(program, case) for case in cases()]) if row]
    products = [row for row in rows if not row["computes"]]
    fixed, each = fitted(products)
    table = ("| tile | copies | `ldmatrix` | `mma` | others | clocks each | waits |\n|---|---|---|---|---|---|---|\n" +
             "".join("| {title} | {copies} | {matrices} | {products} | {others} | {stall:.1f} | {waits} |\n".format(**row)
                     for row in rows))
    said = (f"\nOf products, others are {fixed:.0f} and {each:.1f} for each copy (least squares). Clocks from one of them to the next: median "
            f"{statistics.median(row['stall'] for row in products):.1f}. Those that wait for another: median "
            f"{statistics.median(row['waits'] for row in products):.0f}.\n")
    said += "\n| through registers | instructions |\n|---|---|\n" + "".join(
        f"| {title} | {through_registers(program, *case):.0f} |\n" for title, case in THROUGH.items())
    print(table + said, end="")
    if "--print" in sys.argv:
        return
    page = root / "docs/cuda.md"
    before, rest = page.read_text().split(begin)
    page.write_text(before + begin + table + said + end + rest.split(end)[1])


main()
