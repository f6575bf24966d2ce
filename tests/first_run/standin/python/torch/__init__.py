"""Stands in for PyTorch, as far as bench/gpu/running/rivals.py asks it: tensors of the host, and a product of matrices
that is right, wrong for so many rows (STANDIN_TORCH_WRONG), or ends the process (STANDIN_TORCH_CRASH)."""
import ctypes
import math
import os
import random
import struct
import time
import types

__version__ = "stand-in"
version = types.SimpleNamespace(cuda="0")
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 0))
float16, float32, uint8 = "e", "f", "B"


class Tensor:
    def __init__(self, shape, dtype, values=None):
        self.shape, self.dtype = list(shape), dtype
        self.memory = ctypes.create_string_buffer(self.numel() * self.element_size() + 1)
        if values is not None:
            struct.pack_into(f"{len(values)}{dtype}", self.memory, 0, *values)

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return struct.calcsize(self.dtype)

    def data_ptr(self):
        return ctypes.addressof(self.memory)

    def values(self):
        return struct.unpack_from(f"{self.numel()}{self.dtype}", self.memory)

    def uniform_(self, low, high, generator):
        return Tensor(self.shape, self.dtype, [generator.uniform(low, high) for _ in range(self.numel())])

    def to(self, dtype):
        return Tensor(self.shape, dtype, self.values())

    def float(self):
        return self.to(float32)

    def clone(self):
        return self.to(self.dtype)

    def reshape(self, shape):
        return Tensor(shape, self.dtype, self.values())

    def __sub__(self, other):
        return Tensor(self.shape, self.dtype, [a - b for a, b in zip(self.values(), other.values())])

    def norm(self):
        return math.sqrt(sum(value * value for value in self.values()))


def empty(shape, device, dtype=float32):
    return Tensor(shape if isinstance(shape, list) else [shape], dtype)


def Generator(_):
    return types.SimpleNamespace(manual_seed=random.Random)


class Event:
    def __init__(self, enable_timing):
        self.at = 0.0

    def record(self):
        self.at = time.perf_counter()

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e3


cuda = types.SimpleNamespace(
    Event=Event, synchronize=lambda: None, empty_cache=lambda: None, _sleep=lambda clocks: None,
    get_device_properties=lambda _: types.SimpleNamespace(L2_cache_size=1 << 10),
    current_stream=lambda: types.SimpleNamespace(cuda_stream=0))


def matmul(a, b):
    (rows, depth), columns = a.shape, b.shape[1]
    if str(rows) == os.environ.get("STANDIN_TORCH_CRASH"):
        os.abort()
    wrong = 1.5 if str(rows) == os.environ.get("STANDIN_TORCH_WRONG") else 1.0
    left, right = a.values(), b.values()
    across = [right[column::columns] for column in range(columns)]
    lines = [left[row * depth:(row + 1) * depth] for row in range(rows)]
    sums = [wrong * sum(x * y for x, y in zip(line, one)) for line in lines for one in across]
    return Tensor([rows, columns], a.dtype, sums)
