"""Of which launches a published kernel consists, with its own pieces and overlap.

What stands here of a kernel is in its source: FlashAttention (Dao-AILab/flash-attention 0251105a), PyTorch
(aten/src/ATen/native/cuda: SoftMax.cu, PersistentSoftmax.cuh, layer_norm_kernel.cu), Triton's tutorials. Nothing is a
measured time.
"""
import collections, math

import napkin
from diagrams import ATTENTION, BACKWARD, PRODUCT, ROWS, SUMS, passes

# Blocks and warps that nothing makes take turns.
FREE = ("none", "copies", "beside")
# Of a library's usual tiles the largest, where every core gets one; else the fastest.
LARGE = ((128, 256), (256, 128))
TILES = LARGE + ((128, 128), (64, 64), (64, 128), (128, 64), (64, 256), (256, 64))
# flash_bwd_launch_template.h where a block may have 144 KB: queries and keys of a block.
BACKWARD_TILES = {32: (128, 128), 64: (128, 128), 96: (64, 128), 128: (64, 128), 256: (64, 64)}
# Triton's tutorial tries these (06-fused-attention.py): queries, keys, warps.
TRITON_TILES = [(m, n, warps) for m in (64, 128) for n in (32, 64) for warps in (4, 8) if m // warps >= 16]
TRITON_STAGES = 3
# FlashAttention-3's blocks stay on their cores (hopper/flash_fwd_launch_template.h, UsePersistentScheduler). Whether the
# prologue and epilogue of "every" output tile stand by themselves there, or of "one".
ENDS = "every"
# Elementwise copies from one order of axes to another read 2 bytes of a sector of 32 where keys change places with
# their width. Its share of the bandwidth is one of the constants of the page.
TRANSPOSED = 1 / 6
# Kernels that have a row in each block or warp. Instructions of a value, compiled for sm_80 (CUDA 13.0) without
# approximations (exp 8, a division 16, a reciprocal 8): all, and those of the multiply-add lanes. How often the row
# crosses the core's memory, and how often threads exchange a value one after another: five times to fold a warp.
Passes = collections.namedtuple("Passes", "issued multiplied crossings exchanges")
SOFTMAX_LONG = Passes(38, 24, 3, 2 * 12)  # written by the first of three passes and read by the others
SOFTMAX_SHORT = Passes(29, 15, 0, 2 * 5)  # of a row that a warp holds
LAYERNORM = Passes(23, 11, 0, 10)         # moments one value after another, then the row again from the cache
# An addition of arrays of which one is repeated along axes: with an address of its own for every value.
BROADCAST = 90
WIDTHS = {"f16": 2, "bf16": 2, "f32": 4}
LANES_ISSUED = 128  # a clock and core: a warp's instruction on each of four partitions


def settings_of(row, settings):
    return tuple(settings) + tuple(one for one in row["settings"].split(";") if one)


def number(row, name):
    return int(row[name])


def score(row):
    return "where(x <= q, S[b, h, q, x], -inf)" if row["causal"] == "true" else "S[b, h, q, x]"


def forward(row, settings, tile, overlaps=None):
    """One launch of tiles of queries and keys, and warps where they are known."""
    queries, keys, warps = tile
    pieces = f"group b 1, h 1, q {queries}, stream x {keys} at smem"
    pieces += f"; group q {queries // warps} at reg" if warps else ""
    launch, seconds = napkin.launch(ATTENTION.format(score=score(row), **row), row["profile"], pieces, overlaps, settings)
    if ENDS == "every" or not row["kernel"].startswith("FlashAttention-3"):
        return seconds
    return seconds - sum(ends_of(launch)) * (1 - 1 / launch["waves"])


def ends_of(launch):
    return [one["seconds"] for one in launch["losses"] if one["what"].startswith("prologue")]


def two_fit(row, tile):
    """Blocks of a Triton kernel on one core, whose three stages of keys and values are all in its memory."""
    queries, keys, _ = tile
    held = 2 * number(row, "head_dim") * (queries + 2 * TRITON_STAGES * keys)
    numbers = napkin.profile(row["profile"])
    return 2 * (held + numbers["limits.reserved_shared_per_block"]) <= numbers["levels.smem.capacity"]


def backward(row, settings, overlaps):
    """Three launches: the sums over O and its gradient (which also clears gradients of queries), the five contractions,
    and gradients of queries to 16 bits."""
    queries, keys = BACKWARD_TILES[number(row, "head_dim")]
    seq = number(row, "seq")
    diagram = BACKWARD.format(tiles=seq // keys, tile=keys, **row)
    launch, seconds = napkin.launch(diagram, row["profile"], f"group b 1, h 1, t 1, stream q {queries} at smem", overlaps,
                                    settings)
    if row["causal"] == "true" and launch:
        seconds = part_of(launch, seconds, causal_share(seq, queries, keys))
    values = number(row, "batch") * number(row, "heads") * seq * number(row, "head_dim")
    kind = row["dtype"]
    return seconds + sum(napkin.seconds(passes(values, *one), row["profile"], settings)
                         for one in (((kind, kind), ("f32",)), (("f32",), (kind,))))


def causal_share(seq, queries, keys):
    """Of a block's steps, those that a causal mask leaves; and half a block at the end."""
    tiles, steps = seq // keys, seq // queries
    return sum(steps - t * keys // queries for t in range(tiles)) / (tiles * steps)


def part_of(launch, seconds, share):
    fixed = sum(one["seconds"] for one in launch["losses"] if one["what"].startswith(("prologue", "the launch")))
    blocks = launch["blocks"] / launch["cores"]
    return fixed + (seconds - fixed) * share * max(1, (blocks + 0.5) / math.ceil(blocks))


def product(row, settings, batch=1, m=None, n=None, k=None, dtype=None):
    """The fastest of a library's tiles; on machines with clusters, of pairs of blocks that share what both read."""
    m, n, k = m or number(row, "m"), n or number(row, "n"), k or number(row, "k")
    diagram = PRODUCT.format(batch=batch, m=m, n=n, k=k, dtype=dtype or row["dtype"])
    numbers = napkin.profile(row["profile"])
    l2, pairs = numbers.get("caches.l2.bandwidth.sustained"), "siblings.smem.bandwidth.2" in " ".join(numbers)
    step = 64 if row["profile"].startswith(("h", "b")) else 32
    times = []
    fitting = [one for one in TILES if one[0] <= max(64, m) and one[1] <= max(64, n)]
    blocks = lambda tile: batch * math.ceil(m / tile[0]) * math.ceil(n / tile[1])
    large = [one for one in fitting if one in LARGE and blocks(one) >= numbers["levels.smem.count"]]
    for a, c in large or fitting:
        own = settings
        if pairs:  # the cache gives the larger side of a tile to both blocks of a pair at once
            own += napkin.LIBRARY_OF_TEAMS + (f"caches.l2.bandwidth.sustained={l2 * (a + c) / (a + c - max(a, c) / 2) / 1e12} TB/s",)
        pieces = f"group h 1, a {min(a, m)}, c {min(c, n)}, stream b {min(step, k)} at smem"
        times.append(napkin.launch(diagram, row["profile"], pieces, None, own)[1])
    return min(times)


def set_in(settings, path, otherwise):
    return next((float(one.split("=")[1].split()[0]) for one in settings if one.startswith(path + "=")), otherwise)


def hidden(parts, settings):
    """The busiest part and what it does not hide of the others, as the program has it of warpgroups that take no turns."""
    return max(parts) + set_in(settings, "limits.unhidden", 0.4) * (sum(parts) - max(parts))


def clocks_of(numbers, issued, multiplied=0):
    return max(issued / LANES_ISSUED, multiplied / (numbers["compute.fma.per_clock.f32"] / 2))


def beside(row, settings, memory, values, issued):
    """A kernel that has instructions to issue while its memory works."""
    numbers = napkin.profile(row["profile"])
    lanes = values * clocks_of(numbers, issued) / numbers["levels.smem.count"] / numbers["compute.fma.clock"]
    return hidden((memory, lanes), settings)


def in_passes(row, settings, memory, rows, length, threads, passes, waits):
    """Rows in whole rounds over the cores, so many threads for each. Those beside each other on a core share its parts;
    one by itself takes its passes one after another, each after what the one before has folded, and waits for all but
    its stores."""
    numbers = napkin.profile(row["profile"])
    cores, clock = numbers["levels.smem.count"], numbers["compute.fma.clock"]
    fit = min(numbers["limits.threads_per_sm"] // threads, math.ceil(rows / cores))
    own = numbers["levels.reg.bandwidth.datasheet"] * numbers.get("levels.reg.bandwidth.sustained_fraction", 1) / cores
    values = math.ceil(rows / cores) * length
    lanes = values * clocks_of(numbers, passes.issued, passes.multiplied) / clock
    crossings = values * WIDTHS[row["dtype"]] * passes.crossings / own
    waits = math.ceil(rows / cores) * (waits + passes.exchanges * numbers.get("levels.reg.latency", 0)) / clock
    alone = (memory / 2 + lanes + crossings + waits) / fit
    return max(memory, alone, hidden((memory, lanes, crossings), settings) if fit > 1 else 0)


def softmax(row, settings, rows, length):
    """PyTorch's: a warp holds rows of up to 1024, else a block of 1024 threads takes three passes."""
    diagram = ROWS.format(m=rows, n=length, dtype=row["dtype"], op="softmax")
    memory, launch = napkin.without_launch(diagram, row["profile"], settings)
    threads, passes = (32, SOFTMAX_SHORT) if length <= 1024 else (1024, SOFTMAX_LONG)
    waits = napkin.profile(row["profile"]).get("levels.smem.latency", 0)
    return launch + in_passes(row, settings, memory, rows, length, threads, passes, waits)


def found_again(held, room):
    """Of what is read round and round, the share that a cache still has. It throws out lines at random: a line outlasts
    the misses of one round with exp(-misses / room). Read at 31, 37 and 58 MB, an A100's (25 MB at its speed) is
    published to have 0.6, 0.4 and less than 0.1; this has 0.64, 0.43 and 0.14."""
    share = 0
    for _ in range(1000):
        share = math.exp(-(1 - share) * held / room)
    return 1 if held <= room else share


def layernorm(row, settings):
    """PyTorch's reads a row twice, in blocks of 128 threads: from the cache as far as that still has it."""
    rows, length = number(row, "m"), number(row, "n")
    numbers = napkin.profile(row["profile"])
    once, launch = napkin.without_launch(ROWS.format(**row), row["profile"], settings)
    again, _ = napkin.without_launch(SUMS.format(**row), row["profile"], settings)
    at_once = min(rows, numbers["limits.threads_per_sm"] // 128 * numbers["levels.smem.count"])
    room = numbers["caches.l2.capacity"] * numbers["caches.l2.effective_fraction"]
    memory = once + (1 - found_again(at_once * length * WIDTHS[row["dtype"]], room)) * again
    waits = numbers["levels.smem.latency"] + numbers["caches.l2.latency"]
    return launch + in_passes(row, settings, memory, rows, length, 128, LAYERNORM, waits)


def standard(row, settings):
    """PyTorch's attention in single steps: a product, the softmax, a product, and the copies that put heads outside;
    backward the two products of each, and the softmax's gradient."""
    seq, width = number(row, "seq"), number(row, "head_dim")
    heads = number(row, "batch") * number(row, "heads")
    kind, target = row["dtype"], row["profile"]
    passed = lambda values, inputs, outputs: napkin.seconds(passes(values, inputs, outputs), target, settings)
    scores = product(row, settings, heads, seq, seq, width)
    values = product(row, settings, heads, seq, width, seq)
    copy = passed(heads * seq * width, (kind,), (kind,))
    seconds = scores + values + softmax(row, settings, heads * seq, seq) + copy * (2 + 1 / TRANSPOSED)
    cells = heads * seq * seq
    library = "masks" in row["kernel"]
    if row["causal"] == "true" or library:
        seconds += beside(row, settings, passed(cells, (kind,), (kind,)), cells, BROADCAST)
    if library:
        seconds += 2 * passed(cells, (kind, "i8"), (kind,))
    if row["direction"] == "fwd":
        return seconds
    return seconds + scores + 3 * values + 2 * passed(cells, (kind, kind), (kind,)) + 3 * copy


def predict(row, settings=()):
    """Seconds, or a sentence why there is none."""
    settings = settings_of(row, settings)
    kernel, op = row["kernel"], row["op"]
    if row["unit"] == "GB":
        return "bytes, not a time"
    if kernel.startswith("FlashAttention-1"):
        return "its source at the time of the figure, whose pieces the row needs, was not found"
    if kernel.startswith("Standard"):
        return standard(row, settings)
    if op == "attention":
        tile = tuple(number(row, one) if row[one] else None for one in ("tile_q", "tile_x", "warps"))
        if kernel.startswith("Triton"):
            return min(forward(row, settings, one, FREE if two_fit(row, one) else FREE[:2]) for one in TRITON_TILES)
        overlaps = FREE if kernel.startswith("FlashAttention-2") else None
        seconds = forward(row, settings, tile, overlaps)
        return seconds if row["direction"] == "fwd" else seconds + backward(row, settings, FREE)
    if op == "gemm":
        return product(row, settings)
    if op == "softmax" and kernel.startswith("PyTorch"):
        return softmax(row, settings, number(row, "m"), number(row, "n"))
    if op == "layernorm" and kernel.startswith("PyTorch"):
        return layernorm(row, settings)
    return napkin.seconds((SUMS if op == "sum" else ROWS).format(**row), row["profile"], settings)
