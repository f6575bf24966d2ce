#!/usr/bin/env python3
"""One extension of PyTorch, built as its users would: `smoke.py JOB.json` imports the binding, calls the operator, and
compares it with PyTorch's own attention."""
import importlib
import json
import os
import sys
import time


def main():
    job = json.load(open(sys.argv[1]))
    name = job["source"]["name"]
    os.environ["TORCH_EXTENSIONS_DIR"] = os.path.join(job["output"], "extensions")
    import torch
    sys.path.insert(0, job["folder"])
    began = time.time()
    importlib.import_module(name + "_torch")
    built = time.time() - began
    q, k, v = (torch.rand(2, 4, 512, 128, device="cuda", dtype=torch.float16) * 2 - 1 for _ in range(3))
    got = getattr(torch.ops.napkin, name)(q, k, v).float()
    right = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float())
    error = float((got - right).norm() / right.norm())
    good = error <= job["source"]["tolerances"][0]
    problems = [] if good else [f"the operator is off by {error:.2e}"]
    print(json.dumps({"result": {"status": "good" if good else "wrong", "problems": problems, "error": error,
                                 "built_s": built}}))


if __name__ == "__main__":
    main()
