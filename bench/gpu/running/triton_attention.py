"""Attention forward in Triton, by the algorithm of its fused-attention tutorial: a block of queries keeps a running
maximum and sum while keys and values pass by. A width that is a power of two, sequences that blocks divide."""
import torch
import triton
import triton.language as tl


FOUR = [(128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2), (64, 64, 4, 3)]  # few, for each is compiled there


@triton.autotune([triton.Config({"ROWS": rows, "COLUMNS": columns}, num_warps=warps, num_stages=stages)
                  for rows, columns, warps, stages in FOUR],
                 key=["length", "WIDTH", "CAUSAL"])
@triton.jit
def kernel(Q, K, V, O, length, scale, WIDTH: tl.constexpr, CAUSAL: tl.constexpr, ROWS: tl.constexpr,
           COLUMNS: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    width = tl.arange(0, WIDTH)
    q = tl.load(Q + head + row[:, None] * WIDTH + width[None, :])
    most = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, WIDTH], tl.float32)
    end = (tl.program_id(0) + 1) * ROWS if CAUSAL else length
    for begin in range(0, end, COLUMNS):
        at = begin + column
        k = tl.load(K + head + at[None, :] * WIDTH + width[:, None])
        scores = tl.dot(q, k) * scale  # in powers of two
        if CAUSAL:
            scores = tl.where(row[:, None] >= at[None, :], scores, float("-inf"))
        greatest = tl.maximum(most, tl.max(scores, 1))
        weights = tl.math.exp2(scores - greatest[:, None])
        repair = tl.math.exp2(most - greatest)
        total = total * repair + tl.sum(weights, 1)
        v = tl.load(V + head + at[:, None] * WIDTH + width[None, :])
        sums = tl.dot(weights.to(v.dtype), v, sums * repair[:, None])
        most = greatest
    tl.store(O + head + row[:, None] * WIDTH + width[None, :], (sums / total[:, None]).to(O.dtype.element_ty))


def forward(q, k, v, causal):
    batch, heads, length, width = q.shape
    out = torch.empty_like(q)
    grid = lambda meta: (length // meta["ROWS"], batch * heads)
    kernel[grid](q, k, v, out, length, 1.44269504 / width**0.5, width, causal)
    return out
