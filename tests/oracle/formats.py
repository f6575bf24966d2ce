"""Number formats: how a value is rounded to each, and how arrays of each lie in memory."""
import numpy as np

WIDE = np.longdouble  # in which meanings are evaluated: with more digits and more range than any format here


class Format:
    def __init__(self, digits, least, greatest, stored, saturates=False):
        self.digits = digits  # bits of a significand, the first one included
        self.least = least  # the least exponent of a normal number, 2^least
        self.greatest = WIDE(greatest)
        self.stored = np.dtype(stored)
        self.saturates = saturates
        self.roundoff = WIDE(2) ** -digits
        self.tiny = WIDE(2) ** (least - digits + 1)  # the distance of numbers next to zero


FORMATS = {
    "f64": Format(53, -1022, float.fromhex("0x1.fffffffffffffp1023"), np.float64),
    "f32": Format(24, -126, float.fromhex("0x1.fffffep127"), np.float32),
    "tf32": Format(24, -126, float.fromhex("0x1.fffffep127"), np.float32),
    "f16": Format(11, -14, 65504, np.uint16),
    "bf16": Format(8, -126, float.fromhex("0x1.fep127"), np.uint16),
    "f8e4m3": Format(4, -6, 448, np.uint8, True),
    "f8e5m2": Format(3, -14, 57344, np.uint8, True),
    "f4e2m1": Format(2, 0, 6, np.uint8, True),
    "f8e8m0": Format(1, -127, WIDE(2) ** 127, np.uint8, True),
}
INTEGERS = {"i8": (-128, 127, np.int8), "i32": (-2 ** 31, 2 ** 31 - 1, np.int32), "i4": (-8, 7, np.uint8)}
PACKED = ("f4e2m1", "i4")  # two numbers to a byte along the last axis, the first in the low half


def is_integer(kind):
    return kind in INTEGERS


def with_digits(values, digits, least):
    """The nearest numbers with significands of so many bits, ties to even, and exponents from the least on."""
    exponent = np.maximum(np.frexp(np.where(np.isfinite(values), values, 0))[1], least + 1)
    return np.where(np.isfinite(values), np.ldexp(np.rint(np.ldexp(values, digits - exponent)), exponent - digits), values)


def round_to(values, kind):
    """The nearest number of a format, ties to even. Integers and formats of eight bits saturate."""
    values = np.asarray(values, WIDE)
    if kind == "bool":
        return values
    if kind in INTEGERS:
        low, high, _ = INTEGERS[kind]
        return np.clip(np.rint(values), low, high)
    form = FORMATS[kind]
    rounded = with_digits(values, form.digits, form.least)
    beyond = form.greatest if form.saturates else WIDE(np.inf)
    return np.where(np.abs(rounded) > form.greatest, np.copysign(beyond, rounded), rounded)


def spacing(values, kind):
    """The distance between neighbouring numbers of a format of floating point around each value."""
    form = FORMATS[kind]
    finite = np.where(np.isfinite(values), values, 0)
    return np.ldexp(WIDE(1), np.maximum(np.frexp(finite)[1], form.least + 1) - form.digits)


def encode(values, kind):
    """Values of a format as they lie in memory."""
    if kind == "bool":
        return np.ascontiguousarray(values, np.uint8)
    if kind in PACKED:
        return pack(values, kind)
    if kind == "f8e8m0":
        return (np.frexp(values)[1] + 126).astype(np.uint8)
    if kind in INTEGERS:
        return np.ascontiguousarray(values, INTEGERS[kind][2])
    if kind in ("f64", "f32", "tf32"):
        return np.ascontiguousarray(values, FORMATS[kind].stored)
    single = np.ascontiguousarray(values, np.float32)
    if kind == "bf16":
        return np.ascontiguousarray(single.view(np.uint32) >> 16).astype(np.uint16)
    half = single.astype(np.float16).view(np.uint16)
    if kind == "f16":
        return half
    if kind == "f8e5m2":
        return np.ascontiguousarray(half >> 8).astype(np.uint8)
    return encode_e4m3(single)


def pack(values, kind):
    """A sign and three bits of magnitude, or four bits of two's complement."""
    if kind == "i4":
        codes = np.asarray(values, int) & 15
    else:
        codes = np.searchsorted([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.abs(values)) + np.where(np.signbit(values), 8, 0)
    flat = codes.reshape(-1).astype(np.uint8)
    return flat[0::2] | flat[1::2] << 4


def encode_e4m3(values):
    """A sign, four bits of exponent with a bias of 7, three bits of fraction, and no infinity."""
    table = decode(np.arange(127, dtype=np.uint8), "f8e4m3")
    codes = np.searchsorted(table, np.abs(values).astype(WIDE)).astype(np.uint8)
    return np.where(np.signbit(values), codes | 128, codes).astype(np.uint8)


def decode(stored, kind):
    """What lies in memory as values."""
    if kind == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(WIDE)
    if kind == "f16":
        return stored.view(np.float16).astype(WIDE)
    if kind == "f8e5m2":
        return (stored.astype(np.uint16) << 8).view(np.float16).astype(WIDE)
    if kind == "f8e4m3":
        size, fraction = (stored.astype(int) >> 3) & 15, (stored & 7).astype(WIDE)
        magnitude = np.where(size == 0, fraction / 8 * WIDE(2) ** -6, (1 + fraction / 8) * np.ldexp(WIDE(1), size - 7))
        magnitude = np.where((stored & 127) == 127, WIDE(np.nan), magnitude)
        return np.where(stored & 128, -magnitude, magnitude)
    return stored.astype(WIDE)


def stored_type(kind):
    if kind == "bool":
        return np.dtype(np.uint8)
    return np.dtype(INTEGERS[kind][2]) if kind in INTEGERS else FORMATS[kind].stored
