#!/usr/bin/env python3
"""Others beside our kernels: `rivals.py JOB.json` times PyTorch's and Triton's on the same inputs, and compares.

Every line of standard output that begins with a case is one case's, whole: `columns` has seconds, and the difference to
what the kernel wrote, or why a column is not there.
"""
import json
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from library import Kernel

EPSILON = 1e-5
AHEAD, WARM_UP, LAUNCHES, MOST_SETS = 50_000_000, 3, 30, 8
NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


def sdpa(torch, backend, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def call(q, k, v):
        q, k, v = (one.flatten(1, -3) for one in (q, k, v))
        more = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **more)

    return call


def attention(torch, causal, only):
    if only == "triton":
        from triton_attention import forward
        return {"triton": lambda: lambda q, k, v: forward(q, k, v, causal)}
    backends = {"cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}
    return {name: (lambda backend=backend: sdpa(torch, backend, causal)) for name, backend in backends.items()}


def scaled(torch):
    """cuBLAS takes the scales of rows and columns as they are here: a[m, 1] and b[1, n]."""
    return lambda a, b, s, t: torch._scaled_mm(a, b.t(), scale_a=s[:, None], scale_b=t[None, :],
                                               out_dtype=torch.bfloat16)


def row_function(torch, kind):
    norm = torch.nn.functional
    return {"softmax_rows": lambda x: x.softmax(1),
            "layernorm": lambda x, g, b: norm.layer_norm(x, x.shape[1:], g, b, EPSILON),
            "rmsnorm": lambda x, g: norm.rms_norm(x, x.shape[1:], g, EPSILON)}[kind]


def columns(torch, kind, only):
    """Who computes it as well: name -> what makes a function of the inputs."""
    if kind in ("attention", "causal", "grouped"):
        return attention(torch, kind == "causal", only)
    if kind == "product":
        return {"cublas": lambda: torch.matmul}
    if kind == "product8":
        return {"cublas": lambda: scaled(torch)}
    eager = row_function(torch, kind)
    return {"eager": lambda: eager, "compiled": lambda: torch.compile(eager, dynamic=False)}


def draw(torch, array, sizes, generator):
    shape = [sizes[axis] for axis in array["axes"]]
    drawn = torch.empty(shape, device="cuda").uniform_(-1, 1, generator=generator)
    return drawn.to(getattr(torch, NAMES[array["type"]]))


def input_sets(torch, source, sizes):
    """So many that twice the second-level cache is read before any comes again."""
    generator = torch.Generator("cuda").manual_seed(7)
    one = [draw(torch, array, sizes, generator) for array in source["call"]["inputs"]]
    size = sum(tensor.numel() * tensor.element_size() for tensor in one)
    wanted = -(-2 * torch.cuda.get_device_properties(0).L2_cache_size // max(size, 1))
    more = range(min(MOST_SETS, wanted) - 1)
    return [one] + [[draw(torch, array, sizes, generator) for array in source["call"]["inputs"]] for _ in more]


def seconds(torch, call, sets, load_s):
    """The median of single launches queued behind each other, and the mean of many under load."""
    for number in range(WARM_UP):
        call(*sets[number % len(sets)])
    torch.cuda.synchronize()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(LAUNCHES)]
    torch.cuda._sleep(AHEAD)
    for number, (begin, end) in enumerate(events):
        begin.record()
        call(*sets[number % len(sets)])
        end.record()
    torch.cuda.synchronize()
    middle = statistics.median(begin.elapsed_time(end) for begin, end in events) * 1e-3
    began, number, batch = time.time(), 0, max(1, int(0.02 / max(middle, 1e-6)))
    while time.time() - began < load_s:
        for _ in range(batch):
            call(*sets[number % len(sets)])
            number += 1
        torch.cuda.synchronize()
    ended = time.time()
    return {"seconds": middle, "load_s": (ended - began) / max(number, 1), "window": [began, ended]}


def ours(torch, job, sizes):
    """The kernel as a function of the same tensors."""
    source = job["source"]
    kernel, array = Kernel(job["library"], source), source["call"]["outputs"][0]
    out = torch.empty([sizes[axis] for axis in array["axes"]], device="cuda",
                      dtype=getattr(torch, NAMES[array["type"]]))
    room = torch.empty(kernel.workspace(sizes) + 16, device="cuda", dtype=torch.uint8)

    def call(*inputs):
        pointers = [tensor.data_ptr() for tensor in inputs]
        error = kernel.launcher(sizes, pointers, [out.data_ptr()], room.data_ptr(),
                                torch.cuda.current_stream().cuda_stream)()
        if error:
            raise RuntimeError(f"the launch gives {error}")
        return out

    return call


def off(got, right):
    """All of one result against all of another, by norm."""
    difference = (got.float().reshape(right.shape) - right.float()).norm() / right.float().norm()
    return float(difference)


def column(torch, make, sets, exact, load_s):
    try:
        call = make()
        found = {"error": None if exact is None else off(call(*sets[0]), exact)}
        return {**found, **seconds(torch, call, sets, load_s), "good": exact is None or found["error"] < 0.05}
    except Exception as problem:  # whatever a library throws at what it cannot do
        return {"missing": f"{type(problem).__name__}: {problem}".splitlines()[0][:300]}


def measure(torch, job):
    source, sizes = job["source"], job["run"]["sizes"]
    sets = input_sets(torch, source, sizes)
    kernel = ours(torch, job, sizes)
    exact = kernel(*sets[0]).clone()
    torch.cuda.synchronize()
    found = {"napkin": column(torch, lambda: kernel, sets, exact, job["load_s"])} if not job.get("only") else {}
    for name, make in columns(torch, source["rival"], job.get("only")).items():
        found[name] = column(torch, make, sets, exact, job["load_s"])
    return found


def verdict(found):
    bad = [f"`{name}` differs by {one['error']:.2e}" for name,
           one in found.items() if one.get("error") and one["error"] >= 0.05]
    return {"status": "wrong" if bad else "good", "problems": bad, "columns": found}


def main():
    import torch
    for job in json.load(open(sys.argv[1]))["cases"]:
        print(json.dumps({"stage": job["name"]}), flush=True)
        try:
            found = verdict(measure(torch, job))
        except Exception as problem:
            found = {"status": "failed", "problems": [f"{type(problem).__name__}: {problem}".splitlines()[0][:300]],
                     "columns": {}}
        print(json.dumps({"rival": job["name"], **found}), flush=True)
        torch.cuda.empty_cache()
    print(json.dumps({"result": {"status": "good"}}), flush=True)


if __name__ == "__main__":
    main()
