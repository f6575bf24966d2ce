"""Numbers with how far plain evaluation in a format may be from them.

A Ranged holds the exact value and a radius: a plain evaluation, which rounds after every operation to its format, ends
within the radius of the value, to first order in what it sums and strictly elsewhere. Where the plain evaluation could
overflow, or nothing is known, the radius is infinite. A condition holds whether rounding could turn it.
"""
import math
import numpy as np

from formats import FORMATS, WIDE, is_integer, round_to, spacing


class Ranged:
    def __init__(self, value, radius):
        self.value, self.radius = value, radius


class Condition:
    def __init__(self, value, unsure):
        self.value, self.unsure = value, unsure


def exact(value):
    value = np.asarray(value, WIDE)
    return Ranged(value, np.zeros_like(value))


class Arithmetic:
    """Operations on ranged numbers, rounded to one format. `rounding` is how many units in the last place one may be off."""

    def __init__(self, kind):
        self.form = FORMATS[kind]

    def rounded(self, value, radius, units=1):
        """The result of an operation whose operands alone move it by the radius."""
        form = self.form
        radius = np.where(np.isnan(radius), np.inf, radius)
        beyond = np.abs(value) + radius > form.greatest
        grown = radius + units * (np.abs(value) * form.roundoff + form.tiny)
        return Ranged(value, np.where(np.isinf(value), radius, np.where(beyond, np.inf, grown)))

    def settled(self, value, radius, certain):
        """Infinite results of operands that are certain to be infinite are exact."""
        return np.where(np.isinf(value) & certain, 0, radius)

    def add(self, a, b, sign=1):
        value = a.value + sign * b.value
        radius = self.settled(value, a.radius + b.radius, np.isfinite(a.radius) & np.isfinite(b.radius))
        if whole(a) and whole(b):
            return Ranged(value, radius)
        # Adding zero is exact, as is the difference of what is exact and equal; and a sum is never rounded by more than its
        # lesser part, since the greater one is a number of the format.
        result = self.rounded(value, radius)
        free = (radius == 0) & ((a.value == 0) | (b.value == 0) | (value == 0))
        lesser = np.minimum(np.abs(a.value) + a.radius, np.abs(b.value) + b.radius)
        grown = np.where(np.isinf(result.radius), np.inf, np.minimum(result.radius, radius + lesser))
        return Ranged(value, np.where(free, 0, grown))

    def multiply(self, a, b):
        value = a.value * b.value
        radius = product_radius(a, b)
        radius = self.settled(value, radius, (np.abs(a.value) > a.radius) & (np.abs(b.value) > b.radius))
        if whole(a) and whole(b):
            return Ranged(value, radius)
        result = self.rounded(value, radius)
        free = (radius == 0) & ((value == 0) | (np.abs(a.value) == 1) | (np.abs(b.value) == 1))
        return Ranged(value, np.where(free, 0, result.radius))

    def divide(self, a, b):
        value = a.value / b.value
        apart = np.abs(b.value) > b.radius
        least = np.where(apart, np.abs(b.value) - b.radius, 0)
        moved = np.where(b.radius == 0, 0, np.abs(value) * b.radius)
        radius = np.where((a.radius == 0) & (b.radius == 0), 0,
                          np.where(apart, (moved + a.radius) / np.where(apart, least, 1), np.inf))
        radius = np.where(np.isinf(b.value) & (b.radius == 0) & np.isfinite(a.value), 0, radius)
        radius = self.settled(value, radius, apart)
        return self.rounded(value, radius, 2)  # by its inverse it is rounded twice

    def power(self, a, exponent):
        if exponent == 1:
            return a
        if exponent == 0:
            return exact(np.ones_like(a.value))
        if exponent == int(exponent):
            size = np.abs(a.value)
            upper, lower = size + a.radius, np.maximum(size - a.radius, 0)
            raised = [np.power(part, WIDE(exponent)) for part in (size, upper, lower)]
            radius = np.where(a.radius == 0, 0, np.maximum(np.abs(raised[1] - raised[0]), np.abs(raised[2] - raised[0])))
            sign = np.where((a.value < 0) & (int(exponent) % 2 == 1), -1, 1)
            return self.rounded(sign * raised[0], radius, abs(int(exponent)) + 1)
        return self.function(a, lambda x: np.power(x, WIDE(exponent)), least=0, units=8)

    def function(self, a, f, least=-np.inf, units=4):
        """A monotone function: its ends are at the ends of its argument, which is never below `least` by rounding."""
        value = f(a.value)
        ends = [np.abs(f(np.maximum(a.value + side * a.radius, np.minimum(a.value, least))) - value) for side in (1, -1)]
        same = [f(np.maximum(a.value + side * a.radius, np.minimum(a.value, least))) == value for side in (1, -1)]
        ends = [np.where(equal, 0, end) for equal, end in zip(same, ends)]
        radius = np.where(a.radius == 0, 0, np.maximum(*ends))
        overflows = np.isinf(value) & np.isfinite(a.value) & (a.value != 0)
        # What may be infinite less infinite, or over it, may be no number, whatever the function is between its ends.
        radius = np.where(overflows | np.isinf(a.radius), np.inf, radius)
        return self.rounded(value, radius, units)

    def without_exponential(self, a, found):
        """A sigmoid, 1 / (1 + exp(-a)), is zero where the exponential leaves the format."""
        leaves = -a.value + a.radius > math.log(float(self.form.greatest))
        return Ranged(found.value, np.where(leaves, np.maximum(found.radius, np.abs(found.value)), found.radius))

    def total(self, a, axes):
        """A sum over axes of the arrays, in any order. Roundings are random, but of equal numbers they are alike."""
        value = np.sum(a.value, axes)
        count = np.size(a.value) / max(np.size(value), 1)
        sure = np.all(np.isfinite(a.radius), axes)
        radius = self.settled(value, np.sum(a.radius, axes), sure)
        if count <= 1 or whole(a):
            return Ranged(value, radius)
        finite = np.where(np.isfinite(a.value), np.abs(a.value), 0)
        alike = np.max(finite, axes) == np.min(finite, axes)
        steps = 1 + np.where(alike, count / 2, math.sqrt(count))
        grown = radius + steps * self.form.roundoff * np.sum(finite, axes) + self.form.tiny
        beyond = np.sum(finite, axes) + radius > self.form.greatest
        grown = np.where(np.sum(np.where(a.radius == 0, finite, np.inf), axes) == 0, radius, grown)
        return Ranged(value, np.where(np.isinf(value), radius, np.where(beyond, np.inf, grown)))

    def product(self, a, axes):
        value = np.prod(a.value, axes)
        size = np.abs(a.value)
        radius = np.prod(size + a.radius, axes) - np.abs(value)
        radius = np.where(np.all(a.radius == 0, axes), 0, np.where(np.isnan(radius), np.inf, radius))
        count = max(np.size(a.value) // max(np.size(value), 1), 1)
        # In another order it could overflow or underflow on the way.
        logs = np.log2(np.where(size > 0, size, 1))
        logs = np.where(np.isfinite(logs), logs, 0)
        up, down = np.sum(np.maximum(logs, 0), axes), np.sum(np.minimum(logs, 0), axes)
        unsafe = (up > math.log2(float(self.form.greatest)) - 1) | (down < self.form.least + 1)
        result = self.rounded(value, radius, count + 1)
        return Ranged(value, np.where(unsafe, np.inf, result.radius))

    def cast(self, a, kind):
        """Rounded to a type: once here and once, perhaps, before a factor is applied."""
        if kind in ("bool",):
            return a
        value, above, below = (round_to(a.value + side * a.radius, kind) for side in (0, 1, -1))
        radius = np.maximum(distance(above, value), distance(below, value))
        radius = np.where(np.isinf(a.radius), np.inf, np.where(a.radius == 0, 0, radius))
        if is_integer(kind):
            return Ranged(value, np.where(np.isnan(a.value), np.inf, radius))
        coarser = FORMATS[kind].digits < self.form.digits
        return Ranged(value, np.where(np.isinf(value), radius, radius + (spacing(value, kind) if coarser else 0)))


def whole(a):
    """Whether all are whole numbers that are exact: positions and counts, which any format adds and multiplies exactly."""
    return bool(np.all((a.radius == 0) & (np.abs(a.value) < 2 ** 11) & (a.value == np.rint(np.where(np.isfinite(a.value), a.value, 0.5)))))


def product_radius(a, b):
    """How far the product moves when both operands move by their radius."""
    first = np.where(b.radius == 0, 0, np.abs(a.value) * b.radius)
    second = np.where(a.radius == 0, 0, np.abs(b.value) * a.radius)
    return first + second + np.where((a.radius == 0) | (b.radius == 0), 0, a.radius * b.radius)


def distance(a, b):
    return np.where(a == b, 0, np.abs(a - b))


def extreme(a, axes, greatest):
    """The greatest or the least along axes: never further off than the furthest off."""
    pick = np.max if greatest else np.min
    value = pick(a.value, axes)
    sign = 1 if greatest else -1
    high, low = pick(a.value + sign * a.radius, axes), pick(a.value - sign * a.radius, axes)
    return Ranged(value, np.where(np.all(a.radius == 0, axes), 0, np.maximum(distance(high, value), distance(low, value))))


def extreme_of(a, b, greatest):
    pick = np.maximum if greatest else np.minimum
    value = pick(a.value, b.value)
    high, low = pick(a.value + a.radius, b.value + b.radius), pick(a.value - a.radius, b.value - b.radius)
    sure = (a.radius == 0) & (b.radius == 0)
    return Ranged(value, np.where(sure, 0, np.maximum(distance(high, value), distance(low, value))))


def choose(condition, a, b):
    value = np.where(condition.value, a.value, b.value)
    radius = np.where(condition.value, a.radius, b.radius)
    other = np.where(condition.value, b.radius, a.radius) + distance(a.value, b.value)
    other = np.where(np.isnan(other), np.inf, other)
    return Ranged(value, np.where(condition.unsure, np.maximum(radius, other), radius))


def compare(sign, a, b):
    value = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
             "!=": np.not_equal}[sign](a.value, b.value)
    reach = a.radius + b.radius
    gap = distance(a.value, b.value)
    return Condition(value, ((reach > 0) & ~(gap > reach)) | np.isnan(a.value) | np.isnan(b.value))
