"""The libraries that nvcc built, called through ctypes: the device, kernels, and references in double."""
import ctypes
import math
import random
import time

TYPES = ("f64", "f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i32", "bool", "f8e8m0", "f4e2m1", "i4")
BITS = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "i32": 32, "f4e2m1": 4, "i4": 4}  # others have 8
RANGES = {"i8": (-4.0, 5.0), "i32": (-4.0, 5.0), "f8e8m0": (0.25, 4.0), "f4e2m1": (-6.0, 6.0), "i4": (-8.0, 7.0)}
GUARD, GUARDED, POISON = 65536, 0xA5, 0xFF
OTHER_PATH, WRONG_SIZES = 801, 1  # cudaErrorNotSupported, cudaErrorInvalidValue


class Failed(Exception):
    """Something of the device said no."""


def load(path, results):
    library = ctypes.CDLL(str(path))
    for name, (kind, *taken) in results.items():
        function = getattr(library, name, None)
        if function is not None:
            function.restype, function.argtypes = kind, taken
    return library


class Support:
    def __init__(self, path):
        number, pointer, whole, real = ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_double
        self.c = load(path, {
            "support_begin": (number, ctypes.c_char_p, number, pointer), "support_stream": (pointer,),
            "support_error": (ctypes.c_char_p, number), "support_allocate": (pointer, whole),
            "support_free": (number, pointer), "support_free_bytes": (whole,),
            "support_set": (number, pointer, number, whole), "support_fetch": (number, pointer, pointer, whole),
            "support_copy": (number, pointer, pointer, whole),
            "support_fill": (number, pointer, number, whole, ctypes.c_ulonglong, real, real),
            "support_finish": (number,), "support_left_behind": (number,),
            "support_differ": (whole, pointer, pointer, whole),
            "support_changed": (whole, pointer, number, whole), "support_count_begin": (number,),
            "support_count_end": (number, pointer, pointer),
            "support_compare": (number, pointer, whole, number, pointer, whole, whole, real, pointer),
            "support_event": (number, number), "support_elapsed": (real, number, number),
            "support_spin": (number, whole)})
        name, facts = ctypes.create_string_buffer(256), (ctypes.c_longlong * 5)()
        self.check(self.c.support_begin(name, 256, facts), "the device does not answer")
        self.stream = self.c.support_stream()
        self.device = {"name": name.value.decode(), "capability": facts[0], "cores": facts[1], "cache_bytes": facts[2],
                       "memory_bytes": facts[3], "most_hz": facts[4] * 1000}

    def text(self, error):
        return self.c.support_error(error).decode()

    def check(self, error, what):
        if error:
            raise Failed(f"{what}: {self.text(error)} ({error})")

    def allocate(self, size):
        found = self.c.support_allocate(max(size, 1))
        if not found:
            raise Failed(f"no memory for {size} bytes on the device")
        return found

    def guarded(self, size):
        """Memory with guard zones before and behind it; where its own bytes begin."""
        whole = self.allocate(size + 2 * GUARD)
        self.check(self.c.support_set(whole, GUARDED, size + 2 * GUARD), "cudaMemset")
        return whole + GUARD

    def intact(self, at, size):
        """What is no longer as it was around guarded memory, in words."""
        before = self.c.support_changed(at - GUARD, GUARDED, GUARD)
        behind = self.c.support_changed(at + size, GUARDED, GUARD)
        return [f"{count} bytes {where} changed" for count, where in ((before, "before"), (behind, "behind")) if count]

    def finish(self, what):
        self.check(self.c.support_finish(), what)


def count_of(array, sizes):
    return math.prod(sizes[axis] for axis in array["axes"])


def bytes_of(array, sizes):
    return -(-count_of(array, sizes) * BITS.get(array["type"], 8) // 8)


def range_of(array, densities):
    """Between which numbers an input is drawn."""
    if array["type"] == "bool":
        share = densities.get(array["name"], 0.5)
        return share, 1 + share
    return RANGES.get(array["type"], (-1.0, 1.0))


class Kernel:
    """The launcher of a source."""

    def __init__(self, path, source):
        self.source, self.name, call = source, source["name"], source["call"]
        text = (ctypes.c_char_p,)
        arrays = [ctypes.c_void_p] * (len(call["inputs"]) + len(call["outputs"]) + 2)
        numbers = [ctypes.c_int] * len(call["axes"])
        self.c = load(path, {f"{self.name}_launch": (ctypes.c_int, *numbers, *arrays),
                             f"{self.name}_workspace_size": (ctypes.c_size_t, *numbers), f"{self.name}_last_path": text,
                             f"{self.name}_planned_path": text, f"{self.name}_fallback_reason": text,
                             f"{self.name}_fallback_expected": (ctypes.c_int,)})

    def numbers(self, sizes):
        """The sizes that are passed."""
        return [sizes[one["axis"]] for one in self.source["call"]["axes"]]

    def says(self, what):
        """What the library says about its path, or None where it does not."""
        function = getattr(self.c, f"{self.name}_{what}", None)
        said = function() if function is not None else None
        return said.decode() if isinstance(said, bytes) else said

    def workspace(self, sizes):
        return getattr(self.c, f"{self.name}_workspace_size")(*self.numbers(sizes))

    def launcher(self, sizes, inputs, outputs, workspace, stream):
        """What starts the kernels on these arrays: a function without arguments that gives an error."""
        function = getattr(self.c, f"{self.name}_launch")
        taken = [*self.numbers(sizes), *inputs, *outputs, workspace, stream]
        return lambda: function(*taken)


class Reference:
    """The meaning in double, of some positions of the row axis at a time."""

    def __init__(self, path, name, about, sizes, support):
        self.about, self.sizes, self.support = about, sizes, support
        pointers = ctypes.POINTER(ctypes.c_void_p)
        function = f"{name}_reference"
        c = load(path, {function: (ctypes.c_int, ctypes.POINTER(ctypes.c_longlong), ctypes.c_longlong,
                                   ctypes.c_longlong,
                                   pointers, pointers, ctypes.c_void_p)})
        self.function = getattr(c, function)
        self.row = about["row_axis"]
        self.length = sizes[self.row] if self.row else 1

    def shape(self, stage, rows):
        return [rows if axis == self.row else self.sizes[axis] for axis in self.about["stages"][stage]]

    def room(self, rows):
        return [8 * math.prod(self.shape(stage, rows)) for stage in range(len(self.about["stages"]))]

    def rows_at_once(self, most_bytes):
        """So many that the stages fit, and no more than an eighth where that is much."""
        rows = self.length
        while rows > 1 and (sum(self.room(rows)) > most_bytes
                            or (rows * 8 > self.length and sum(self.room(rows)) > 1 << 28)):
            rows = -(-rows // 2)
        return rows

    def take_room(self, rows):
        """Memory for as many rows; for fewer, where other processes took it meanwhile."""
        while rows > 1:
            room = self.support.c.support_allocate(sum(self.room(rows)))
            if room:
                return rows, room
            rows = -(-rows // 2)
        return rows, self.support.allocate(sum(self.room(rows)))

    def slabs(self, rows, seed):
        """First and last ones first, then the others in any order."""
        starts = list(range(0, self.length, rows))
        middle = starts[1:-1]
        random.Random(seed).shuffle(middle)
        return [(begin, min(begin + rows, self.length)) for begin in dict.fromkeys(starts[:1] + starts[-1:] + middle)]

    def compute(self, begin, end, inputs, room):
        places, at = (ctypes.c_void_p * len(self.about["stages"]))(), room
        for stage, size in enumerate(self.room(end - begin)):
            places[stage], at = at, at + size
        numbers = (ctypes.c_longlong * len(self.about["axes"]))(*(self.sizes[axis] for axis in self.about["axes"]))
        given = (ctypes.c_void_p * len(inputs))(*inputs)
        self.support.check(self.function(numbers, begin, end, given, places, self.support.stream), "the reference")
        self.support.finish("the reference")
        return [places[stage] for stage in self.about["outputs"]]

    def compare(self, arrays, pointers, inputs, most, seconds):
        """Compares all outputs, or as many slabs as the seconds allow: of each output what support_compare adds up."""
        rows, room = self.take_room(self.rows_at_once(min(self.support.c.support_free_bytes() // 2, 24 << 30)))
        found = [(ctypes.c_double * 8)() for _ in arrays]
        began, done = time.monotonic(), 0
        for begin, end in self.slabs(rows, 1):
            if done and time.monotonic() - began > seconds:
                break
            exact = self.compute(begin, end, inputs, room)
            for number, array in enumerate(arrays):
                self.compare_slab(number, array, pointers[number], exact[number], begin, end, most[number],
                                  found[number])
            done += end - begin
        self.support.c.support_free(room)
        return found, done / self.length

    def compare_slab(self, number, array, got, exact, begin, end, most, found):
        """Entries of a slab lie apart in the output, once for each position of the axes before the row axis."""
        axes = self.about["stages"][self.about["outputs"][number]]
        at = axes.index(self.row) if self.row in axes else 0
        lengths = [self.sizes[axis] for axis in axes] or [1]
        inner = math.prod(lengths[at + 1:]) if self.row in axes else math.prod(lengths)
        slab, whole = (end - begin, lengths[at]) if self.row in axes else (1, 1)
        line = lengths[-1] if len(lengths) > 1 and at + 1 < len(lengths) else slab * inner
        for outer in range(math.prod(lengths[:at]) if self.row in axes else 1):
            first = (outer * whole + (begin if self.row in axes else 0)) * inner
            error = self.support.c.support_compare(got, first, TYPES.index(array["type"]),
                                                   exact + 8 * outer * slab * inner,
                                                   slab * inner, line, most, found)
            self.support.check(error, "comparing")
