#!/usr/bin/env python3
"""Emits kernels with `--binding torch`, builds them for the host against the emulation, and calls them from PyTorch.

check.py NAPKIN SOURCES FOLDER COMPILER EMULATION: results against PyTorch's own in float64, shapes of meta tensors, and
every error. EMULATION is the folder with its objects. Exits 77 where there is no PyTorch. The device itself, its streams and its guard are not run: their headers are
stood in for.
"""
import functools
import glob
import os
import subprocess
import sys
import tempfile
from unittest import mock

try:
    import torch
    from torch.utils.cpp_extension import _get_cuda_arch_flags, include_paths, library_paths
except ImportError as missing:
    print(f"skipped: {missing}; PyTorch is needed, and what builds its extensions (Debian: python3-torch libtorch-dev python3-setuptools)")
    sys.exit(77)

NAPKIN, SOURCES, FOLDER, COMPILER, EMULATION = sys.argv[1:6]
RMSNORM = """diagram rmsnorm
axis r = 512; axis x = 256
input X: bf16[r, x]; input G: bf16[x]
Y: bf16[r, x] = X[r, x] * rsqrt(sum[x](X[r, x]^2) / size(x) + 0.00001) * G[x]
output Y
"""
EXTREMES = """diagram extremes
axis result = 64; axis x = 256
input error: f32[result, x]
M: f32[result] = max[x](error[result, x])
T: f32[result] = sum[x](error[result, x])
output M; output T
"""
PRODUCT = """diagram product
axis m = 4096; axis n = 4096; axis k = 4096
input A: f16[m, k]; input B: f16[k, n]
C: f16[m, n] = sum[k](A[m, k] * B[k, n])
output C
"""
LAYER = """diagram layer
axis m = 96; axis n = 64; axis k = 80
input A: f32[m, k]; input B: f32[k, n]; input bias: f32[n]; input M: bool[m]
Y: f32[m, n] = where(M[m], tanh(sum[k](A[m, k] * B[k, n]) + bias[n]), 0)
output Y
"""
TRAINED = """diagram trained
axis q = 256; axis x = 256; axis d = 64
input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))
L[q] = logsumexp[x](S[q, x])
P: f16[q, x] = softmax[x](S[q, x])
O: f16[q, d] = sum[x](P[q, x] * V[x, d])
output O; output L
"""
PLANNED = "napkin.product: the planned path is warpgroups"
UNALIGNED = "warpgroups: rows of `B` do not begin at multiples of 16 bytes"


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")


def compiler(*more):
    paths = [os.path.join(SOURCES, "tests/cuda", part) for part in ("torch", "emulation")] + include_paths()
    run(COMPILER, "-std=c++17", "-O1", "-fPIC", "-DNAPKIN_TORCH_DEVICE=CPU", *("-I" + path for path in paths), *more)


@functools.cache
def precompiled():
    """PyTorch's headers, which take longer than a binding."""
    header = os.path.join(FOLDER, "precompiled.hpp")
    with open(header, "w") as file:
        file.writelines(f"#include <{name}>\n" for name in ("torch/library.h", "ATen/core/Tensor.h", "ATen/ops/empty.h",
                                                               "torch/csrc/autograd/custom_function.h"))
    compiler("-x", "c++-header", header, "-o", header + ".gch")
    return header


ALONE = {"_torch.cpp", "_autograd.cpp"}  # of each the first is compiled with what it includes itself


def to_object(source, folder):
    file = os.path.join(folder, os.path.basename(source) + ".o")
    ending = source[source.rfind("_"):]
    before = [] if source.endswith(".cu") or ending in ALONE else ["-include", precompiled()]
    ALONE.discard(ending)
    compiler("-I" + folder, *before, "-x", "c++", "-c", source, "-o", file)
    return file


def emulation():
    """What kernels are linked with."""
    return sorted(glob.glob(os.path.join(EMULATION, "plain_*.o")))


def build(name, file, target="a100-sxm4-80"):
    """The operator torch.ops.napkin.NAME, of a diagram's file."""
    folder = os.path.join(FOLDER, name)
    run(NAPKIN, "emit", "cuda", file, "--target", target, "--binding", "torch", "--force", "-q", "-o", folder)
    compile(os.path.join(folder, name + "_torch.py"))
    library = os.path.join(folder, f"lib{name}.so")
    sources = [os.path.join(folder, name + end) for end in (".cu", "_torch.cpp")]
    objects = emulation() + [to_object(source, folder) for source in sources]
    run(COMPILER, "-shared", *objects, *("-L" + path for path in library_paths()), "-lc10", "-ltorch_cpu", "-ltorch",
        "-o", library)
    torch.ops.load_library(library)
    return getattr(torch.ops.napkin, name)


def build_trained(name, file, *grad):
    """The operator of a diagram with the one of its gradient as backward pass."""
    folder, gradient = os.path.join(FOLDER, name), os.path.join(FOLDER, name + "_gradient.nap")
    run(NAPKIN, "grad", file, *grad, "-o", gradient)
    run(NAPKIN, "emit", "cuda", file, "--target", "a100-sxm4-80", "--binding", "torch", "--gradient", gradient, "--force", "-q",
        "-o", folder)
    for operator, ends in ((name + "_gradient", (".cu", "_torch.cpp")), (name, (".cu", "_torch.cpp", "_autograd.cpp"))):
        compile(os.path.join(folder, operator + "_torch.py"))
        library = os.path.join(folder, f"lib{operator}.so")
        objects = emulation() + [to_object(os.path.join(folder, operator + end), folder) for end in ends]
        run(COMPILER, "-shared", *objects, *("-L" + path for path in library_paths()), "-lc10", "-ltorch_cpu", "-ltorch",
            "-o", library)
        torch.ops.load_library(library)
    return getattr(torch.ops.napkin, name)


def compile(path):
    with open(path) as file:
        return __builtins__.compile(file.read(), path, "exec")


def loaded(target, capability):
    """What importing the operator of attention for a target asks PyTorch's loader for, on a device or on none."""
    folder = os.path.join(FOLDER, "loaded_" + target)
    file = os.path.join(SOURCES, "examples/attention.nap")
    run(NAPKIN, "emit", "cuda", file, "--target", target, "--binding", "torch", "--force", "-q", "-o", folder)
    path = os.path.join(folder, "attention_torch.py")
    with mock.patch("torch.utils.cpp_extension.load") as load, \
            mock.patch("torch.cuda.is_available", return_value=capability is not None), \
            mock.patch("torch.cuda.get_device_capability", return_value=capability):
        exec(compile(path), {"__file__": path})
    assert all(os.path.exists(source) for source in load.call_args.kwargs["sources"])
    assert load.call_args.kwargs["is_python_module"] is False
    return load.call_args.kwargs["extra_cuda_cflags"]


def write(name, text):
    path = os.path.join(FOLDER, name + ".nap")
    with open(path, "w") as file:
        file.write(text)
    return path


def close(got, expected, share):
    error = (got.double() - expected).norm() / expected.norm()
    assert error <= share, f"relative error {error}"


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), f"`{words}` is not in `{error}`"
        return
    raise AssertionError(f"no {kind.__name__} that says `{words}`")


def said(words, call):
    """The result of a call that warns with the words, or with nothing: PyTorch may write that past Python."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as heard:
        before = os.dup(2)
        os.dup2(heard.fileno(), 2)
        try:
            result = call()
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
        heard.seek(0)
        text = heard.read().decode()
    assert words in text if words else "napkin" not in text, f"`{words}` is not what it said: `{text}`"
    return result


os.makedirs(FOLDER, exist_ok=True)
torch.manual_seed(1)

attention = build("attention", os.path.join(SOURCES, "examples/attention.nap"))
q, k, v = (torch.randn(length, 64).half() for length in (70, 45, 45))
scores = q.double() @ k.double().T / 8
close(attention(q, k, v), scores.softmax(1) @ v.double(), 2e-3)
raises(TypeError, "napkin.attention: Q must be torch.float16, and is Float", lambda: attention(q.float(), k, v))
raises(ValueError, "K must have the 2 dimensions [x, d], and has the shape [45]", lambda: attention(q, k[:, 0], v))
raises(ValueError, "axis x is 45 long, but 44 in V", lambda: attention(q, k, v[:44]))
raises(ValueError, "V must be contiguous", lambda: attention(q, k, v.T.contiguous().T))
raises(ValueError, "axis d of Q is 256 long, and must be from 1 to 128",
       lambda: attention(torch.zeros(70, 256).half(), k, v))
with torch.inference_mode():  # PyTorch 1.13 has no way past gradients for meta tensors otherwise
    q, k, v = (array.to("meta") for array in (q, k, v))
    shape = attention(q, k, v)
    raises(ValueError, "axis d is 64 long, but 32 in V", lambda: attention(q, k, torch.empty_like(v[:, :32])))
assert shape.shape == (70, 64) and shape.dtype == torch.float16 and shape.device.type == "meta"

rmsnorm = build("rmsnorm", write("rmsnorm", RMSNORM))
x, g = torch.randn(19, 201).bfloat16(), torch.randn(201).bfloat16()
mean = x.double().square().mean(1, keepdim=True)
close(rmsnorm(x, g), x.double() * (mean + 1e-5).rsqrt() * g.double(), 1e-2)

extremes = build("extremes", write("extremes", EXTREMES))
x = torch.randn(7, 99)
most, total = extremes(x)
close(most, x.double().max(1).values, 1e-6)
close(total, x.double().sum(1), 1e-5)

pooling = build("average_pooling", os.path.join(SOURCES, "examples/average_pooling.nap"))
x = torch.randn(2, 6, 8, 5).half()
mean = x.double().unfold(1, 2, 2).unfold(2, 2, 2).mean((-1, -2))
close(pooling(x, 3, 4, 2, 2), mean, 1e-2)
raises(ValueError, "the kernels do not hold for these sizes", lambda: pooling(x, 4, 4, 2, 2))
raises(ValueError, "axis u of the call is 0 long", lambda: pooling(x, 0, 4, 2, 2))

# Keys that are divided among blocks: one part, several, a shorter one, and more keys than planned.
decode = build("decode", os.path.join(SOURCES, "examples/decode.nap"))
for length in (45, 8192, 12299, 65541):
    q, k, v = (torch.randn(*shape, 16).bfloat16() for shape in ((1, 2, 1), (1, length), (1, length)))
    scores = torch.einsum("krqd,kxd->krqx", q.double(), k.double()) / 4
    close(decode(q, k, v), torch.einsum("krqx,kxd->krqd", scores.softmax(3), v.double()), 2e-2)

# The path of the plan is demanded, but for rows that TMA cannot copy.
product = build("product", write("product", PRODUCT), "h100-sxm5")
a, b, odd = (torch.randn(rows, columns).half() for rows, columns in ((128, 64), (64, 128), (64, 101)))
close(said("", lambda: product(a, b)), a.double() @ b.double(), 2e-3)
close(said(f"{PLANNED}, and the kernels run by warps; {UNALIGNED}", lambda: product(a, odd)), a.double() @ odd.double(),
      2e-3)
close(said("", lambda: product(a, odd)), a.double() @ odd.double(), 2e-3)
with mock.patch.dict(os.environ, {"NAPKIN_DEMAND_PATH": "planned"}):
    close(product(a, b), a.double() @ b.double(), 2e-3)
    raises(RuntimeError, f"{PLANNED}, NAPKIN_DEMAND_PATH is planned, and the kernels cannot run so; {UNALIGNED}",
           lambda: product(a, odd))
with mock.patch.dict(os.environ, {"NAPKIN_DEMAND_PATH": "warps"}):
    close(product(a, b), a.double() @ b.double(), 2e-3)
with mock.patch.dict(os.environ, {"NAPKIN_EMULATION_LACKS": "sm_90a"}):
    raises(RuntimeError, f"{PLANNED}, and the kernels ran by warps; warpgroups: the build has no sm_90a code",
           lambda: product(a, b[:, :96].contiguous()))
with mock.patch.dict(os.environ, {"NAPKIN_EMULATION_LACKS": "sm_90a hopper"}):
    close(product(a, b[:, :88].contiguous()), a.double() @ b[:, :88].double(), 2e-3)

# A loss goes backward through an operator that was emitted with its gradient.
def gradients(call, *inputs):
    """Of a sum of the result with weights, by every input that has one."""
    leaves = [one.detach().clone().requires_grad_(one.is_floating_point()) for one in inputs]
    result = call(*leaves)
    weights = torch.linspace(-1, 1, result.numel(), dtype=torch.float64).reshape(result.shape).to(result.dtype)
    (result * weights).sum().backward()
    return [leaf.grad for leaf in leaves]


layer = build_trained("layer", write("layer", LAYER))
inputs = torch.randn(21, 13), torch.randn(13, 9), torch.randn(9), torch.arange(21) % 3 > 0
meant = gradients(lambda a, b, bias, m: torch.where(m[:, None], (a @ b + bias).tanh(), torch.zeros((), dtype=a.dtype)),
                  *(one.double() if one.is_floating_point() else one for one in inputs))
for got, expected in zip(gradients(layer, *inputs), meant):
    assert (got is None) == (expected is None)
    if got is not None:
        close(got, expected, 1e-5)
assert not layer(*inputs).requires_grad
a = inputs[0].clone().requires_grad_()
once, = torch.autograd.grad(layer(a, *inputs[1:]).sum(), a)
raises(RuntimeError, "napkin.layer: there are no gradients of its gradients",
       lambda: torch.autograd.grad(layer(a, *inputs[1:]).sum(), a, create_graph=True))


def plain_attention(q, k, v):
    return (q @ k.T / q.shape[1] ** 0.5).softmax(1) @ v


q, k, v = (torch.randn(length, 64).half() for length in (70, 45, 45))
meant = gradients(plain_attention, q.double(), k.double(), v.double())
recomputed = build_trained("attention_recomputed", write("attention_recomputed", TRAINED.replace("trained", "attention_recomputed")
                                                         .replace("; output L", "").replace("L[q] = logsumexp[x](S[q, x])\n", "")))
trained = build_trained("trained", write("trained", TRAINED), "--of", "O", "--save", "L")
assert trained(*(one.requires_grad_() for one in (q, k, v)))[1].requires_grad is False  # L has no gradient
for call in (recomputed, lambda *inputs: trained(*inputs)[0]):
    for got, expected in zip(gradients(call, q, k, v), meant):
        close(got, expected, 5e-3)
frozen = q.detach().clone().requires_grad_()
trained(frozen, k.detach(), v.detach())[0].float().square().sum().backward()  # the others want no gradient
assert frozen.grad.shape == q.shape

# Kernels of teams are there only under the full name of a Hopper; PyTorch then adds no name of its own.
teams = "-gencode=arch=compute_90a,code=sm_90a"
assert loaded("h100-sxm5", (9, 0)) == ["-O3", teams]
assert _get_cuda_arch_flags(loaded("h100-sxm5", (9, 0))) == []
for target, capability in (("h100-sxm5", (8, 0)), ("h100-sxm5", None), ("a100-sxm4-80", (9, 0))):
    assert loaded(target, capability) == ["-O3"], (target, capability)

print("6 operators of PyTorch, and 3 with gradients: good")
