"""Bytes and clocks of every kernel as the hardware counts them, read with Nsight Compute."""
import csv
import glob
import os
import shutil

# What the results call it, and what Nsight Compute calls it.
METRICS = {"dram_read": "dram__bytes_read.sum", "dram_written": "dram__bytes_write.sum",
           "l2_bytes": "lts__t_bytes.sum", "l2_bytes_of_sms": "lts__t_bytes_srcunit_tex.sum",
           "into_sms": "l1tex__m_xbar2l1tex_read_bytes.sum", "out_of_sms": "l1tex__m_l1tex2xbar_write_bytes.sum",
           "seconds": "gpu__time_duration.sum", "clocks": "sm__cycles_elapsed.max",
           "instructions": "smsp__inst_executed.sum", "registers": "launch__registers_per_thread",
           "warps_active": "sm__warps_active.avg.per_cycle_active",
           "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu.sum"}
SCALE = {"seconds": 1e-9}  # counted in nanoseconds
PLACES = ("/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda/bin/ncu")


def find(wanted):
    """Nsight Compute's command line, the newest where there are several."""
    found = wanted or shutil.which("ncu")
    places = [path for place in PLACES for path in sorted(glob.glob(place))[-1:]]
    return found or next((path for path in places if os.access(path, os.X_OK)), None)


def words(program, name, kernels, log):
    """What stands before the command of a process whose kernels are counted; clocks stay as they are."""
    return [program, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--target-processes",
            "all", "--kernel-name", f"regex:^{name}_kernel", "--launch-count", str(kernels), "--log-file", str(log),
            "--metrics", ",".join(METRICS.values())]


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def of_log(path):
    """One entry for every kernel, in the order of launches."""
    if not path.exists():
        return []
    lines = [line for line in path.read_text().splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    if len(rows) < 3:
        return []
    head, values = rows[0], rows[2:]  # the second row has the units
    return [of_row(dict(zip(head, row))) for row in values]


def of_row(row):
    found = {"kernel": row.get("Kernel Name", "").split("(")[0]}
    for name, metric in METRICS.items():
        value = number(row.get(metric, ""))
        if value is not None:
            found[name] = value * SCALE.get(name, 1)
    return found
