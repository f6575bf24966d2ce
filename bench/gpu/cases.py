"""What is timed: diagrams at a size, the inputs they take, what they mean in float64, and who else computes the same.

Functions of `torch` get it as an argument: a dry run lists the cases without it.
"""
import dataclasses
import math
import typing

TOKENS, HEADS = 16384, 16


@dataclasses.dataclass
class Column:
    """One of napkin's kernels of a case."""
    labels: typing.Optional[str] = None  # of its pieces; else searched
    path: str = "tensor"


@dataclasses.dataclass
class Case:
    name: str  # of the diagram, and so of the operator
    group: str
    text: str
    inputs: dict  # name: shape; all of them of `type`
    meaning: typing.Callable  # (torch, inputs) -> (where in the output, float64 values there)
    rivals: dict  # name: (torch) -> (inputs) -> output
    columns: dict = dataclasses.field(default_factory=lambda: {"napkin": Column()})
    memory_bound: bool = False  # beside a copy of as many bytes
    type: str = "float16"  # of inputs and output, by PyTorch's name

    def bytes_once(self):
        """Inputs and output, each once; the output is as large as the first input, or a product's."""
        count = sum(math.prod(shape) for shape in self.inputs.values())
        return 2 * (count + math.prod(list(self.inputs.values())[0]))


ATTENTION = """diagram {name}
axis b = {b}; axis h = {h}; axis q = {s}; axis x = {s}; axis d = {d}
input Q: f16[b, h, q, d]; input K: f16[b, h, x, d]; input V: f16[b, h, x, d]
S[b, h, q, x] = sum[d](Q[b, h, q, d] * K[b, h, x, d]) / sqrt(size(d))
P: f16[b, h, q, x] = {weights}[x]({scores})
O: f16[b, h, q, d] = sum[x](P[b, h, q, x] * V[b, h, x, d])
output O
"""
PRODUCT = """diagram {name}
axis a = {n}; axis b = {n}; axis c = {n}
input A: f16[a, b]; input B: f16[b, c]
C: f16[a, c] = sum[b](A[a, b] * B[b, c])
output C
"""
ROWS = """diagram {name}
axis r = {r}; axis x = {x}
input X: f16[r, x]{weights}
Y: f16[r, x] = {value}
output Y
"""
# Pieces that are usual for this shape, where the search prefers others.
BY_HAND = "group b 1, h 1, q 128, stream x 64 at smem; group q 16, stream x 16 at reg"


def attention(sequence, width, causal=False, spherical=False):
    name = f"{'spherical' if spherical else 'causal' if causal else 'attention'}_{sequence}_{width}"
    shape = (TOKENS // sequence, HEADS, sequence, width)
    scores = "where(x <= q, S[b, h, q, x], -inf)" if causal else "S[b, h, q, x]"
    text = ATTENTION.format(name=name, b=shape[0], h=HEADS, s=sequence, d=width, scores=scores,
                            weights="l2norm" if spherical else "softmax")
    if spherical:  # f16 does not reach as far as the weights before their norm is known
        text = text.replace("f16[", "bf16[")

    def meaning(torch, inputs):
        q, k, v = (array[:1, :1].double() for array in inputs)
        scores = q @ k.transpose(2, 3) / math.sqrt(width)
        if causal:
            scores.masked_fill_(torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1), -math.inf)
        weights = scores / scores.norm(dim=3, keepdim=True) if spherical else scores.softmax(3)
        return (slice(0, 1), slice(0, 1)), weights @ v

    rivals = {} if spherical else {name: sdpa(backend, causal) for name, backend in BACKENDS.items()}
    if not spherical:
        rivals["triton"] = lambda torch: triton_attention(causal)
    return Case(name, "spherical attention" if spherical else "attention", text,
                dict.fromkeys("QKV", shape), meaning, rivals,
                {"napkin": Column(), "napkin 128x64": Column(BY_HAND), "napkin sm_80": Column(path="warps")},
                type="bfloat16" if spherical else "float16")


BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}


def sdpa(backend, causal):
    def make(torch):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def call(q, k, v):
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return call

    return make


def triton_attention(causal):
    from triton_attention import forward

    return lambda q, k, v: forward(q, k, v, causal)


def product(n):
    name = f"product_{n}"

    def meaning(torch, inputs):
        a, b = inputs
        return slice(0, 256), a[:256].double() @ b.double()

    return Case(name, "matrix product", PRODUCT.format(name=name, n=n), {"A": (n, n), "B": (n, n)}, meaning,
                {"cublas": lambda torch: torch.matmul})


def rows(kind, count, length):
    value, weights, exact, library = ROW_KINDS[kind]
    inputs = {"X": (count, length), **{name: (length,) for name in weights}}
    text = ROWS.format(name=f"{kind}_{length}", r=count, x=length, value=value,
                       weights="".join(f"; input {name}: f16[x]" for name in weights))

    def meaning(torch, inputs):
        return slice(0, 64), exact(torch, inputs[0][:64].double(), *(one.double() for one in inputs[1:]))

    rivals = {"eager": lambda torch: lambda *arrays: library(torch, *arrays),
              "compiled": lambda torch: torch.compile(lambda *arrays: library(torch, *arrays), dynamic=False)}
    return Case(f"{kind}_{length}", "rows", text, inputs, meaning, rivals, memory_bound=True)


EPSILON = 0.00001
ROW_KINDS = {
    "softmax": ("softmax[x](X[r, x])", "", lambda torch, x: x.softmax(1), lambda torch, x: x.softmax(1)),
    "layernorm": ("layernorm[x](X[r, x]) * G[x] + B[x]", "GB",
                  lambda torch, x, g, b: torch.nn.functional.layer_norm(x, x.shape[1:], g, b, EPSILON),
                  lambda torch, x, g, b: torch.nn.functional.layer_norm(x, x.shape[1:], g, b, EPSILON)),
    "rmsnorm": (f"X[r, x] * rsqrt(sum[x](X[r, x]^2) / size(x) + {EPSILON:f}) * G[x]", "G",
                lambda torch, x, g: x * (x.square().mean(1, keepdim=True) + EPSILON).rsqrt() * g,
                lambda torch, x, g: (x.float() * (x.float().square().mean(1, keepdim=True) + EPSILON).rsqrt()
                                     * g.float()).half()),
}


def all_cases():
    cases = [attention(sequence, 128, causal) for causal in (False, True)
             for sequence in (1024, 2048, 4096, 8192, 16384)]
    cases += [attention(4096, 64), attention(4096, 64, spherical=True)]
    cases += [product(4096), product(8192)]
    return cases + [rows(kind, 16384, length) for kind in ROW_KINDS for length in (1024, 4096, 8192)]
