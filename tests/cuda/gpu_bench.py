#!/usr/bin/env python3
"""What of bench/gpu runs without a GPU: its help, the dry run, and the table and picture of made-up results.

gpu_bench.py NAPKIN SOURCES FOLDER
"""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

NAPKIN, SOURCES, FOLDER = sys.argv[1:4]
BENCH = os.path.join(SOURCES, "bench/gpu")
sys.dont_write_bytecode = True
sys.path.insert(0, BENCH)
import report
from cases import all_cases


def run(*words):
    return subprocess.run([sys.executable, "-B", os.path.join(BENCH, "run"), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


assert "--dry-run" in run("--help").stdout

dry = run("--dry-run", "--program", NAPKIN, "--target", "a100-sxm4-80", "-o", FOLDER)
assert dry.returncode == 0, dry.stderr
cases = all_cases()
lines = [line for line in dry.stdout.splitlines() if " ms predicted " in line]
assert len(lines) == sum(column.path == "tensor" for case in cases for column in case.columns.values()), dry.stdout
assert len({case.name for case in cases}) == len(cases)
teams = run("--dry-run", "--program", NAPKIN, "--target", "h100-sxm5", "--only", "attention_1024_128", "-o", FOLDER)
assert len(re.findall(r"^attention_1024_128 +napkin sm_80 +\d\.\d{3} ms predicted  as planned$", teams.stdout, re.M)) == 1, teams.stdout
for line in lines:
    assert re.search(r"\d\.\d{3} ms predicted  .*has its (pieces|rows)|ms predicted  as planned", line), line
    assert "runs without" not in line, line

without = run("--program", NAPKIN, "-o", FOLDER)
assert without.returncode == 1 and "--dry-run needs none" in without.stderr, without.stderr

made_up = {"name": "one <1>", "group": "rows", "predicted_s": {"napkin": 0.001}, "how": {}, "copy_share": 0.875,
           "seconds": {"napkin": 0.002, "napkin by hand": 0.001, "slow": 0.004, "fast but wrong": 0.0005},
           "error": {"napkin": 0.001, "napkin by hand": 0.5, "slow": 0.001, "fast but wrong": 0.02},
           "missing": {"cudnn": "RuntimeError: no"}}
nothing = {"name": "two", "group": "rows", "predicted_s": {}, "how": {}, "seconds": {}, "error": {},
           "missing": {"napkin": "no nvcc"}}
assert report.ratio(made_up) == 2 and report.ratio(nothing) is None
table = report.table([made_up, nothing]).splitlines()
assert table[2] == "| one <1> | napkin | 2.000 | 1.000 | slow 2.00 | 88% |", table[2]
assert table[3] == "| two | - | - | - | - |  |", table[3]
assert report.wrong([made_up]) == ["one <1>: napkin by hand is off by 50.0%", "one <1>: fast but wrong is off by 2.0%"]
assert report.missing([made_up, nothing]) == ["cudnn: RuntimeError: no (1 of 2 cases)", "napkin: no nvcc (1 of 2 cases)"]
drawing = xml.etree.ElementTree.fromstring(report.picture([made_up, nothing], "a & b"))
assert len([part for part in drawing if part.tag.endswith("rect")]) == 1
xml.etree.ElementTree.fromstring(report.picture([nothing], "nothing"))

print(f"{len(lines)} kernels of {len(cases)} cases: good")
