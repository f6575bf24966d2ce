"""What is packed: every example, and the shapes that people ask for, each with the rounds in which it is run."""
import dataclasses
import re

TOKENS, HEADS = 16384, 16
ATTENTION = """diagram {name}
axis b = 1; axis h = 16; axis q = 4096; axis x = 4096; axis d = 128
input Q: f16[b, h, q, d]; input K: f16[b, h, x, d]; input V: f16[b, h, x, d]
S[b, h, q, x] = sum[d](Q[b, h, q, d] * K[b, h, x, d]) / sqrt(size(d))
P: f16[b, h, q, x] = softmax[x]({scores})
O: f16[b, h, q, d] = sum[x](P[b, h, q, x] * V[b, h, x, d])
output O
"""
GROUPED = """diagram {name}
axis b = 1; axis k = 8; axis r = 4; axis q = 4096; axis x = 4096; axis d = 128
input Q: {t}[b, k, r, q, d]; input K: {t}[b, k, x, d]; input V: {t}[b, k, x, d]
S[b, k, r, q, x] = sum[d](Q[b, k, r, q, d] * K[b, k, x, d]) / sqrt(size(d))
P: {t}[b, k, r, q, x] = softmax[x](S[b, k, r, q, x])
O: {t}[b, k, r, q, d] = sum[x](P[b, k, r, q, x] * V[b, k, x, d])
output O
"""
PRODUCT = """diagram product
axis a = 4096; axis b = 4096; axis c = 4096
input A: f16[a, b]; input B: f16[b, c]
C: f16[a, c] = sum[b](A[a, b] * B[b, c])
output C
"""
PRODUCT8 = """diagram product8
axis a = 4096; axis b = 4096; axis c = 4096
input A: f8e4m3[a, b]; input B: f8e4m3[c, b]; input s: f32[a]; input t: f32[c]
C: bf16[a, c] = sum[b](A[a, b] * B[c, b]) * s[a] * t[c]
output C
"""
ROWS = """diagram {name}
axis r = 16384; axis x = 4096
input X: f16[r, x]{weights}
Y: f16[r, x] = {value}
output Y
"""
ROW_KINDS = {"softmax_rows": ("softmax[x](X[r, x])", ""), "layernorm": ("layernorm[x](X[r, x]) * G[x] + B[x]", "GB"),
             "rmsnorm": ("rmsnorm[x](X[r, x]) * G[x]", "G")}
MANY_PIECES = [{"a": 4096, "b": 320, "c": 4096}, {"a": 1000, "b": 200, "c": 1032}, {"a": 1000, "b": 200, "c": 1001}]
MANY_HEADS = [{"b": 4, "h": 16, "q": 512, "x": 320}]


@dataclasses.dataclass
class Source:
    """A diagram at the sizes that it is planned for."""
    id: str
    text: str
    sizes: dict = dataclasses.field(default_factory=dict)
    family: str = "example"
    rival: str = ""  # who else computes it: product, attention, causal, grouped, or a kind of rows
    round: int = 3  # the lower, the earlier
    more: list = dataclasses.field(default_factory=list)  # sizes at which it is checked as well
    binding: bool = False  # with its operator of PyTorch, for the smoke test
    sustained: bool = False
    sanitized: bool = False
    file: object = None
    partition: str = ""  # else as planned
    paths: tuple = ("tensor", "warps")

    @property
    def name(self):
        return re.search(r"^diagram (\w+)", self.text, re.M)[1]


def without_partitions(text):
    return re.sub(r"^partition .*?^}\n", "", text, flags=re.M | re.S)


MORE = {"matmul": MANY_PIECES, "multi_head": MANY_HEADS, "causal": [{"q": 512, "x": 320}]}
SANITIZED = ("matmul", "multi_head", "softmax")


def examples(folder):
    return [Source(file.stem, without_partitions(file.read_text()), more=MORE.get(file.stem, []),
                   sanitized=file.stem in SANITIZED) for file in sorted(folder.glob("*.nap"))]


def attention(length, width, causal):
    name = "masked_attention" if causal else "plain_attention"
    scores = "where(x <= q, S[b, h, q, x], -inf)" if causal else "S[b, h, q, x]"
    first = width == 128 and length in (4096, 16384)
    return Source(f"{'causal' if causal else 'attention'}_{length}_{width}", ATTENTION.format(name=name, scores=scores),
                  {"b": TOKENS // length, "h": HEADS, "q": length, "x": length, "d": width}, "attention",
                  "causal" if causal else "attention", 1 if first else 2, MANY_HEADS if first else [],
                  binding=(length, width, causal) == (4096, 128, False), sustained=length == 16384 and width == 128)


def product(a, b, c):
    square = a == b == c
    return Source(f"product_{a}_{b}_{c}", PRODUCT, {"a": a, "b": b, "c": c}, "product", "product", 1 if square else 2,
                  MANY_PIECES if (a, b, c) == (4096, 4096, 4096) else [], sustained=(a, b, c) == (8192, 8192, 8192))


def grouped(name, sizes, type_, round_):
    return Source(name, GROUPED.format(name="grouped_" + type_, t=type_), sizes, "attention", "grouped", round_)


def rows(kind, count, length):
    value, weights = ROW_KINDS[kind]
    text = ROWS.format(name=kind, value=value, weights="".join(f"; input {name}: f16[x]" for name in weights))
    return Source(f"{kind}_{length}", text, {"r": count, "x": length}, "rows", kind, 1 if length == 4096 else 2)


PRODUCT_TILINGS = ("a 176, c 256, stream b 64 at smem; group c 32 at reg", "a 176, c 256, stream b 32 at smem; group c 32 at reg",
                   "a 128, c 256, stream b 64 at smem; group a 16 at reg", "a 128, c 256, stream b 32 at smem; group a 16 at reg",
                   "a 256, c 128, stream b 64 at smem; group a 32 at reg", "a 128, c 128, stream b 64 at smem; group a 16 at reg",
                   "a 128, c 192, stream b 64 at smem; group a 16 at reg", "a 256, c 192, stream b 64 at smem; group a 32 at reg",
                   "a 64, c 256, stream b 64 at smem; group a 16 at reg")
ATTENTION_TILINGS = tuple(f"b 1, h 1, q {q}, stream x {x} at smem; group q 16 at reg"
                          for q, x in ((128, 160), (128, 128), (128, 96), (128, 64), (192, 128), (192, 80), (64, 128)))
ROW_TILINGS = ("r 1 at smem", "r 4, stream r 1 at smem", "r 16, stream r 1 at smem", "r 62, stream r 1 at smem",
               "r 124, stream r 1 at smem", "r 310, stream r 3 at smem")


def tilings():
    """The same diagrams under several partitions, to see whether the model orders them as the device does."""
    product_, attention_, rows_ = product(4096, 4096, 4096), attention(4096, 128, False), rows("layernorm", 16384, 8192)
    found = []
    for kind, source, partitions in (
            ("product", product_, PRODUCT_TILINGS), ("attention", attention_, ATTENTION_TILINGS),
            ("layernorm", rows_, ROW_TILINGS)):
        for number, partition in enumerate(partitions, 1):
            found.append(dataclasses.replace(source, id=f"tiling_{kind}_{number}", family="tiling", rival="", round=3, more=[],
                                             binding=False, sustained=False, partition="group " + partition, paths=("tensor",)))
    return found


def shapes():
    found = [product(4096, 4096, 4096), product(8192, 8192, 8192), product(4096, 1024, 4096), product(4096, 4096, 4100),
             product(4096, 1024, 50257), product(16, 4096, 4096)]
    found += [attention(length, 128, causal) for length in (2048, 4096, 8192, 16384) for causal in (False, True)]
    found += [attention(length, 64, causal) for length in (4096, 16384) for causal in (False, True)]
    found.append(grouped("grouped_4096", {"b": 2, "k": 8, "r": 4, "q": 4096, "x": 4096}, "f16", 2))
    found.append(grouped("decode_65536", {"b": 1, "k": 8, "r": 8, "q": 1, "x": 65536}, "bf16", 1))
    found.append(grouped("decode_8192", {"b": 16, "k": 8, "r": 8, "q": 1, "x": 8192}, "bf16", 2))
    found += [rows(kind, 16384, length) for kind in ROW_KINDS for length in (4096, 8192)]
    found += [Source(f"product8_{n}", PRODUCT8, dict.fromkeys("abc", n), "product", "product8", 2)
              for n in (4096, 8192)]
    return found
