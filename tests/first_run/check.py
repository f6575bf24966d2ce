#!/usr/bin/env python3
"""Packs, unpacks where no napkin is, and makes the first run there, with stand-ins for nvcc and the device.

check.py NAPKIN SOURCES FOLDER COMPILER: stand-ins build, fail, hang, crash and lie, each in its own way; every one must
be found, with the results of all others whole, in time. Then a run whose time is over, one that goes on, one whose
device dies, the page of the results, and the profile of what was measured.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree

NAPKIN, SOURCES, FOLDER, COMPILER = sys.argv[1:5]
BENCH, HERE = pathlib.Path(SOURCES, "bench/gpu"), pathlib.Path(__file__).resolve().parent
PLACE, ROOT = HERE / "standin", pathlib.Path(FOLDER)
NAMES = ("matmul", "matmul_bias_relu", "multi_head", "softmax", "variance", "decode", "chained_matmul", "logsumexp",
         "rmsnorm_projection")
PRODUCTS = {"product_8192_8192_8192": 9, "product_4096_1024_4096": 10, "product_16_4096_4096": 11}  # and their rows
WANTED = f"^(({'|'.join(NAMES)})-(tensor|warps)|({'|'.join(PRODUCTS)})-tensor)$"
# What is wrong with each source; all others are right.
LIES = {"matmul-warps": "corner", "matmul_bias_relu-tensor": "unwritten", "matmul_bias_relu-warps": "truncated",
        "multi_head-tensor": "fallback", "multi_head-warps": "hang", "softmax-tensor": "guard",
        "decode-tensor": "silent",
        "variance-tensor": "illegal", "chained_matmul-tensor": "launches", "chained_matmul-warps": "crash",
        "logsumexp-tensor": "build fails"}
FOUND = {"corner": r"values are wrong, the worst by 0\.\d+ of its row at a 9\d, c 1\d\d", "unwritten": "are no number",
         "truncated": "values are wrong", "fallback": "would not take the path `warpgroups`: the stand-in has no maps",
         "hang": r"hung, and was killed after \d+ s in the stage `launch`", "guard": "2 bytes behind changed",
         "silent": "the path `threads,threads` ran instead of `warps,threads`", "illegal": "illegal memory access",
         "launches": "3 kernels were launched, 2 are planned", "crash": "ended with -6 in the stage `launch`",
         "build fails": "was not built: .*identifier \"wgmma\" is undefined"}
EMULATED = "rmsnorm_projection-tensor"  # the kernels themselves, on an emulated device
SIZES = {"t": 72, "c": 136, "o": 56, "a": 104, "b": 72, "d": 40, "h": 2, "q": 24, "x": 88, "r": 24, "k": 2}


def pack():
    made = subprocess.run([sys.executable, BENCH / "pack", "--program", NAPKIN, "--only", WANTED, "-o",
                           ROOT / "made/pack"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert made.returncode == 0, made.stdout
    assert re.search(r"^[12][0-9] sources, \d+ runs, [01]\.\d MB in ", made.stdout, re.M), made.stdout
    with tarfile.open(ROOT / "made/pack.tar.gz") as packed:
        packed.extractall(ROOT / "there")


def shrink(path):
    """Sizes that a host computes in no time: a small run of each source, a ragged one, and two times."""
    manifest = json.loads(path.read_text())
    assert all(source["planned_path"] and source["plan"]["predicted_s"] > 0 and source["plan"]["kernels"][0]["bound_by"]
               and source["call"]["outputs"] for source in manifest["sources"].values())
    runs, timed = [], ["matmul-tensor", "rmsnorm_projection-warps", *(f"{name}-tensor" for name in PRODUCTS)]
    for run in manifest["runs"]:
        label = run["id"].rsplit("/", 1)[1]
        if label in ("small", "ragged") or (label == "planned" and run["source"] in timed):
            more = 8 if label == "ragged" and run["source"] == "matmul-tensor" else 0
            run["sizes"] = {axis: 1 if axis == "q" and size == 1 else SIZES[axis] + more for axis,
                            size in run["sizes"].items()}
            if run["source"].removesuffix("-tensor") in PRODUCTS:
                run["sizes"]["a"] = PRODUCTS[run["source"].removesuffix("-tensor")]
            if label != "ragged" or run["source"] == "matmul-tensor":
                runs.append(run)
    manifest["runs"] = runs
    path.write_text(json.dumps(manifest))
    return manifest


def first_run(name, *words, lies=None, timeout=120, **more):
    """Starts it as on a machine that has nothing of ours."""
    home = ROOT / "there/pack"
    environment = {"PATH": "/usr/bin:/bin", "STANDIN_PLACE": str(PLACE), "STANDIN_COMPILER": COMPILER,
                   "STANDIN_LIES": json.dumps(lies or {}), "PYTHONPATH": str(PLACE / "python"),
                   "PYTHONDONTWRITEBYTECODE": "1", **more}
    command = [sys.executable, home / "first_run", "--nvcc", PLACE / "nvcc", "--nvidia-smi", PLACE / "nvidia-smi",
               "--compute-sanitizer", PLACE / "compute-sanitizer", "--ncu", PLACE / "ncu", "-o", ROOT / name, "--copy-bytes", "65536", "-j",
               "2", *words]
    began = time.monotonic()
    made = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment, cwd="/", timeout=timeout)
    assert "Traceback" not in made.stdout, made.stdout
    return made, json.loads((ROOT / name / "results.json").read_text()), time.monotonic() - began


def test_lies():
    made, results, took = first_run("lies", "--minutes", "3", "--limit", "8", lies={**LIES, EMULATED: "emulated"},
                                    STANDIN_SANITIZED="softmax",
                                    STANDIN_TORCH_WRONG="9", STANDIN_TORCH_CRASH="10")
    steps, sources = results["steps"], json.loads((ROOT / "there/pack/manifest.json").read_text())["sources"]
    assert made.returncode == 1 and "ended" in results, made.stdout
    for id_ in sources:
        one, lie = steps[f"check {id_}/small"], LIES.get(id_)
        words = "; ".join(one.get("problems", []))
        assert (one["status"] == "good") == (lie is None), (id_, lie, one)
        assert lie is None or re.search(FOUND[lie], words), (id_, lie, words)
    right = steps["check matmul-tensor/small"]
    assert right["path"] == "warpgroups" and right["launches"] == 1 and right["compared"] == 1, right
    assert right["outputs"][0]["values"] == SIZES["a"] * SIZES["c"] and right["outputs"][0]["error"] == 0, right
    source, real = sources[EMULATED], steps[f"check {EMULATED}/small"]
    assert real["outputs"][0]["error"] < 1e-3 and real["launches"] == 1, real
    assert real["path"] == (source["planned_path"] if source["call"]["says_path"] else None), real
    assert steps["check matmul-tensor/ragged"]["status"] == "good"
    timed = steps["time matmul-tensor/planned"]
    clocks = timed["load"]["clocks"]
    assert timed["seconds"] > 0 and clocks["sm_hz"] == 1755e6 and clocks["power_w"] == 612.5, timed
    assert steps["sanitize matmul-tensor/small"]["status"] == "good"
    assert "compute-sanitizer counts 2 errors" in steps["sanitize softmax-tensor/small"]["problems"][-1]
    assert steps["micro micro_core"]["problems"] == ["broken: operation not supported (801)"]
    assert results["micro"]["copy_2048MiB"]["value"] == 2.9e12 and results["copy_bytes_per_s"] > 0
    counters = steps["count matmul"]["counters"]
    assert counters[0]["kernel"] == "matmul_kernel" and counters[0]["dram_read"] == 1e6, counters
    assert len(counters) == 1 and counters[0]["dram_written"] == 1000001
    assert abs(counters[0]["seconds"] - 1000006e-9) < 1e-12, counters
    judge_rivals(steps)
    assert took < 120, took
    table = (ROOT / "lies/table.txt").read_text()
    assert re.search(r"^matmul +napkin +\d+\.\d+ +0\.197 ", table,
                     re.M) and "hung: check multi_head-warps/small" in table, table
    return results


def judge_rivals(steps):
    """One differs from the kernel, one ends the process of all, and the next one goes on in another."""
    wrong, crashed, right = (steps[f"rivals {name}"] for name in PRODUCTS)
    assert wrong["status"] == "wrong" and not wrong["columns"]["cublas"]["good"], wrong
    assert re.fullmatch(r"`cublas` differs by 5\.0\de-01", wrong["problems"][0]), wrong
    assert crashed["status"] == "crashed" and "ended with -6" in crashed["problems"][0], crashed
    assert right["status"] == "good" and right["columns"]["napkin"]["error"] == 0, right
    column = right["columns"]["cublas"]
    assert column["seconds"] > 0 and column["error"] < 1e-3 and column["clocks"]["sm_hz"] == 1755e6, right


def test_without_nvcc():
    """What was built before is carried; where nothing was, that is said."""
    words = ("--nvcc", "/nowhere/nvcc", "--minutes", "1", "--only", "^check matmul-tensor")
    _, results, _ = first_run("carried", *words)
    assert results["steps"]["check matmul-tensor/small"]["status"] == "good", results["steps"]
    made, _, _ = first_run("carried", *words, "--arch", "sm_80")
    assert made.returncode == 1 and "there is no nvcc, and nothing was built for sm_80" in made.stdout, made.stdout


def test_trap():
    """A hang of the plain build alone is run again in the build that traps."""
    shutil.rmtree(ROOT / "there/pack/build")
    _, results, _ = first_run("trap", "--minutes", "1", "--limit", "2", "--only", "time matmul-tensor",
                              lies={"matmul-tensor": "only when plain"})
    one = results["steps"]["time matmul-tensor/planned"]
    assert one["status"] == "hung" and one["trapped"]["status"] == "good", one


def test_time_is_over():
    """Ends in time, says what it left out, and goes on where it ended."""
    shutil.rmtree(ROOT / "there/pack/build")
    lies = {"softmax-tensor": "build hangs", "matmul-tensor": "hang"}
    made, results, took = first_run("over", "--minutes", "0.2", lies=lies, timeout=60)
    assert took < 20, took
    assert "no time left" in results["left_out"].values() and "left out, " in made.stdout, made.stdout
    done = {name for name, one in results["steps"].items() if one["status"] == "good"}
    assert "check matmul-tensor/small" in results["left_out"], results  # it hung, but nobody waited long enough to know
    shutil.rmtree(ROOT / "there/pack/build")
    _, again, _ = first_run("over", "--minutes", "2", "--limit", "3", "--resume", "--only",
                            "^check (matmul|variance|decode)")
    assert all(again["steps"][f"check {id_}-tensor/small"]["status"] == "good" for id_ in ("variance", "matmul")), again
    assert all(again["steps"][name] == results["steps"][name] for name in done)


def test_dead_device():
    made, results, _ = first_run("dead", "--minutes", "1", "--only", "^check matmul", STANDIN_DEAD="1")
    assert made.returncode == 3 and results["steps"]["copy"]["status"] != "good", made.stdout
    assert results["steps"]["copy"]["problems"] == ["the device does not answer: an error (100)"], results["steps"]
    left_out = results["left_out"]
    assert left_out and all("does not answer" in why for why in left_out.values()), left_out


def test_page(results):
    """The page and the picture of results, of which some numbers are made up."""
    results["device"]["name"] = "a <device>"
    results["steps"]["time matmul-tensor/planned"]["seconds"] = 0.000424
    results["steps"]["rivals matmul"] = {"status": "good", "columns": {
        "cublas": {"seconds": 0.000212, "good": True}, "wrong": {"seconds": 0.0001, "good": False},
        "no": {"missing": "RuntimeError"}}}
    file = ROOT / "made_up.json"
    file.write_text(json.dumps(results))
    run = lambda *words: subprocess.run([sys.executable, BENCH / "report", *words], stdout=subprocess.PIPE, text=True,
                                        check=True)
    run(file, "-o", ROOT / "page.html", "--picture", ROOT / "page.svg")
    page = (ROOT / "page.html").read_text()
    assert "a &lt;device&gt;" in page and "cublas 0.50" in page and "<td>smem from l2</td>" in page, page
    assert "wrong" not in page.split("Not good")[0], page
    drawing = xml.etree.ElementTree.parse(ROOT / "page.svg").getroot()
    assert len([part for part in drawing.iter() if part.tag.endswith("circle")]) >= 2
    empty = ROOT / "empty.json"
    empty.write_text(json.dumps({"steps": {}}))
    run(empty, "-o", ROOT / "empty.html")


def test_profile(results):
    file = ROOT / "lies/results.json"
    results["device"] = {"name": "Stand-in", "cores": 132, "cache_bytes": 52428800}
    sent = {"two": 9e12, "four": 8e12}
    for word, rate in sent.items():
        results["micro"][f"bulk_{word}_multicast_16MiB"] = {"value": rate}
    file.write_text(json.dumps(results))
    run = lambda *words: subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True,
                                        check=True).stdout
    lines = run(sys.executable, BENCH / "measured_profile", file)
    assert "levels.smem.bandwidth.sustained: 2.9 TB/s  measured  RUN (" in lines, lines
    assert "limits.launch: 2.1 us" in lines, lines
    whole = run(sys.executable, BENCH / "measured_profile", file,
                pathlib.Path(SOURCES, "hardware_profiles/h100-sxm5.yaml"))
    mine = ROOT / "measured.yaml"
    mine.write_text(whole.replace("name: h100-sxm5", "name: measured"))
    shown = json.loads(run(NAPKIN, "targets", mine, "--format", "json"))
    numbers = {one["path"]: one for one in shown["numbers"]}
    copied = numbers["levels.smem.bandwidth.sustained"]
    assert copied["origin"] == "measured" and abs(copied["value"] - 2.9e12) < 1e9, copied
    assert numbers["compute.tensor.instructions.wgmma.fraction"]["origin"] == "measured"
    for count, word in ((2, "two"), (4, "four")):
        added = numbers[f"siblings.smem.multicast.{count}"]
        assert added["origin"] == "measured" and added["value"] == sent[word], added


def main():
    shutil.rmtree(ROOT, ignore_errors=True)
    (ROOT / "made").mkdir(parents=True)
    pack()
    shrink(ROOT / "there/pack/manifest.json")
    results = test_lies()
    test_without_nvcc()
    test_time_is_over()
    test_trap()
    test_dead_device()
    test_page(results)
    test_profile(results)
    print("good")


main()
