"""Calls emitted kernels in a process of its own, since a wrong one may end it: runner.py JOBS RESULTS [--malloc].

JOBS holds a pickled list of (library, name, sizes, arguments): an argument is ("in", array), ("out", type, length) or
("none",) for the workspace, of which the kernel says the size. Every result is appended to RESULTS as soon as it is
there: (code, outputs, complaint). Every buffer lies between canaries; with --malloc it comes from malloc, exactly as
long as it must be, so that AddressSanitizer guards it.
"""
import ctypes
import pickle
import sys

import numpy as np

CANARY, MARGIN = 0xA5, 4096


class Guarded:
    """Bytes between two margins of canaries."""

    def __init__(self, size, fill=0xFF):
        self.size = size
        self.room = np.full(size + 2 * MARGIN + 64, CANARY, np.uint8)
        self.begin = MARGIN + (-(self.room.ctypes.data + MARGIN)) % 64
        self.bytes()[:] = fill
        self.address = self.room.ctypes.data + self.begin

    def bytes(self):
        return self.room[self.begin:self.begin + self.size]

    def complaint(self):
        for side, margin in (("before", self.room[:self.begin]), ("behind", self.room[self.begin + self.size:])):
            if np.any(margin != CANARY):
                return "wrote %s a buffer of %d bytes" % (side, self.size)
        return ""

    def free(self):
        pass


class Allocated:
    """Bytes of malloc, which a sanitizer guards."""

    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]

    def __init__(self, size, fill=0xFF):
        self.size, self.address = size, self.libc.malloc(size)
        ctypes.memset(self.address, fill, size)

    def bytes(self):
        return np.ctypeslib.as_array(ctypes.cast(self.address, ctypes.POINTER(ctypes.c_uint8)), (self.size,)) if self.size else np.zeros(0, np.uint8)

    def complaint(self):
        return ""

    def free(self):
        self.libc.free(self.address)


def call(library, name, sizes, arguments, buffer):
    room = getattr(library, name + "_workspace_size")
    room.restype, room.argtypes = ctypes.c_size_t, [ctypes.c_int] * len(sizes)
    run = getattr(library, name + "_run")
    run.restype = ctypes.c_int
    run.argtypes = [ctypes.c_int] * len(sizes) + [ctypes.c_void_p] * len(arguments)
    buffers = []
    for argument in arguments:
        if argument[0] == "in":
            buffers.append(buffer(argument[1].nbytes))
            buffers[-1].bytes()[:] = np.frombuffer(argument[1].tobytes(), np.uint8)
        else:
            size = room(*sizes) if argument[0] == "none" else np.dtype(argument[1]).itemsize * argument[2]
            buffers.append(buffer(size))
    code = run(*sizes, *[one.address for one in buffers])
    complaint = next((one.complaint() for one in buffers if one.complaint()), "")
    outputs = []
    for argument, one in zip(arguments, buffers):
        if argument[0] == "in" and one.bytes().tobytes() != argument[1].tobytes():
            complaint = complaint or "wrote into an input"
        if argument[0] == "out":
            outputs.append(np.frombuffer(one.bytes().tobytes(), argument[1]))
        one.free()
    return code, outputs, complaint


def main():
    buffer = Allocated if "--malloc" in sys.argv else Guarded
    libraries = {}
    with open(sys.argv[1], "rb") as jobs, open(sys.argv[2], "ab") as results:
        for path, name, sizes, arguments in pickle.load(jobs):
            if path not in libraries:
                libraries[path] = ctypes.CDLL(path)
            pickle.dump(call(libraries[path], name, sizes, arguments, buffer), results)
            results.flush()


if __name__ == "__main__":
    main()
