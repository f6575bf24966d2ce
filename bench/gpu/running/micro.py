#!/usr/bin/env python3
"""Measurements of a library of benchmarks, one after another: `micro.py JOB.json` prints each as it comes."""
import ctypes
import json
import sys
import time


def main():
    library = ctypes.CDLL(json.load(open(sys.argv[1]))["library"])
    library.micro_names.restype = ctypes.c_char_p
    library.micro_error.restype = ctypes.c_char_p
    library.micro_measure.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    problems, names = [], library.micro_names().decode().split()
    for name in names:
        print(json.dumps({"stage": name}), flush=True)
        found, began = (ctypes.c_double * 4)(), time.time()
        error = library.micro_measure(name.encode(), found)
        if error:
            problems.append(f"{name}: {library.micro_error().decode()} ({error})")
            if error not in (1, 2, 801):  # of the sizes, no memory, not supported: the device goes on
                break
            continue
        print(json.dumps({"measure": name, "value": found[0], "hz": found[1] or None, "seconds": found[2],
                          "window": [began, time.time()]}), flush=True)
    print(json.dumps({"result": {"status": "wrong" if problems else "good", "problems": problems,
                                 "asked": len(names)}}), flush=True)


if __name__ == "__main__":
    main()
