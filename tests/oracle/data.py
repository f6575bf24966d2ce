"""Data of all kinds for the inputs of a diagram."""
import numpy as np

from formats import INTEGERS, WIDE, round_to, with_digits

KINDS = ("ordinary", "offset", "outlier first", "outlier last", "alternating", "constant", "masked rows", "tiny", "huge")


def draw(generator, kind, type_, shape):
    """Values of an input, already rounded to its type."""
    if type_ == "bool":
        return draw_condition(generator, kind, shape)
    values = generator.standard_normal(shape)
    if type_ == "f8e8m0":
        return np.ldexp(WIDE(1), generator.integers(-6, 7, shape))
    if type_ in INTEGERS:
        return round_to(values * 40 if kind == "huge" else values * 3, type_)
    scale = {"f64": 30, "f32": 12, "bf16": 12, "f16": 2, "f8e4m3": 1, "f8e5m2": 1, "f4e2m1": 0, "tf32": 12}[type_]
    flat = values.reshape(-1)
    if kind == "offset":
        values = values + {"f64": 1e8, "f32": 1e5, "f16": 1e3}.get(type_, 64)
    elif kind == "outlier first" and flat.size:
        flat[0] = 10.0 ** min(scale, 6)
    elif kind == "outlier last" and flat.size:
        flat[-1] = 10.0 ** min(scale, 6)
    elif kind == "alternating":
        values = np.abs(values) * np.where(np.indices(shape).sum(0) % 2, -100, 100) if shape else values
    elif kind == "constant":
        values = np.full(shape, flat[0] * 3 if flat.size else 0)
    elif kind == "tiny":
        values = values * 10.0 ** -scale
    elif kind == "huge":
        values = values * 10.0 ** scale
    # Matrix units read 11 digits of a number of tf32, and other units all of them: with no more digits both read the same.
    return round_to(with_digits(values, 11, -126) if type_ == "tf32" else values, type_)


def draw_condition(generator, kind, shape):
    share = generator.choice([0.1, 0.5, 0.9])
    values = generator.random(shape) < share
    if kind == "masked rows" and values.ndim:
        values[generator.random(values.shape[0]) < 0.5] = False
    if kind == "constant":
        values = np.full(shape, bool(generator.random() < 0.5))
    return values


def all_inputs(generator, kind, diagram, sizes):
    return {name: draw(generator, kind, type_, tuple(sizes[axis] for axis in axes))
            for name, (type_, axes) in diagram.inputs.items()}
