"""The diagrams that are predicted, as texts with their sizes open."""

ATTENTION = """diagram attention
axis b = {batch}
axis h = {heads}
axis q = {seq}
axis x = {seq}
axis d = {head_dim}
input Q: {dtype}[b, h, q, d]
input K: {dtype}[b, h, x, d]
input V: {dtype}[b, h, x, d]
S[b, h, q, x] = sum[d](Q[b, h, q, d] * K[b, h, x, d]) / sqrt(size(d))
P: {dtype}[b, h, q, x] = softmax[x]({score})
O: {dtype}[b, h, q, d] = sum[x](P[b, h, q, x] * V[b, h, x, d])
output O
"""

# The backward pass, its keys in tiles t of {tile} positions x. A block has one tile and streams queries; what it adds to
# the gradients of queries goes out with every step. Five contractions.
BACKWARD = """diagram attention_backward
axis b = {batch}
axis h = {heads}
axis t = {tiles}
axis q = {seq}
axis x = {tile}
axis d = {head_dim}
input Q: {dtype}[b, h, q, d]
input K: {dtype}[b, h, t, x, d]
input V: {dtype}[b, h, t, x, d]
input G: {dtype}[b, h, q, d]
input L: f32[b, h, q]
input E: f32[b, h, q]
S[b, h, t, q, x] = sum[d](Q[b, h, q, d] * K[b, h, t, x, d]) / sqrt(size(d))
P: {dtype}[b, h, t, q, x] = exp(S[b, h, t, q, x] - L[b, h, q])
T: {dtype}[b, h, t, q, x] = P[b, h, t, q, x] * (sum[d](G[b, h, q, d] * V[b, h, t, x, d]) - E[b, h, q])
dQ: f32[b, h, t, q, d] = sum[x](T[b, h, t, q, x] * K[b, h, t, x, d])
dK: {dtype}[b, h, t, x, d] = sum[q](T[b, h, t, q, x] * Q[b, h, q, d])
dV: {dtype}[b, h, t, x, d] = sum[q](P[b, h, t, q, x] * G[b, h, q, d])
output dQ
output dK
output dV
"""

PRODUCT = """diagram product
axis h = {batch}
axis a = {m}
axis b = {k}
axis c = {n}
input A: {dtype}[h, a, b]
input B: {dtype}[h, b, c]
C: {dtype}[h, a, c] = sum[b](A[h, a, b] * B[h, b, c])
output C
"""

ROWS = """diagram rows
axis r = {m}
axis x = {n}
input S: {dtype}[r, x]
P: {dtype}[r, x] = {op}[x](S[r, x])
output P
"""

# What a kernel reads and writes that has nothing else to do: `inputs` and `outputs` are types, one for each array.
def passes(values, inputs, outputs):
    lines = ["diagram passes", "axis r = {}".format(values // 1024), "axis x = 1024"]
    names = [f"A{i}" for i in range(len(inputs))]
    lines += [f"input {name}: {kind}[r, x]" for name, kind in zip(names, inputs)]
    value = " + ".join(f"{name}[r, x]" for name in names) or "1"
    lines += [f"B{i}: {kind}[r, x] = {value} + {i}" for i, kind in enumerate(outputs)]
    return "\n".join(lines + [f"output B{i}" for i in range(len(outputs))]) + "\n"


SUMS = """diagram sums
axis r = {m}
axis x = {n}
input S: {dtype}[r, x]
M[r] = sum[x](S[r, x])
output M
"""
