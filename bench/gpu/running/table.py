"""Results as rows: what was measured of a case beside what is predicted, and what the model says bounds it."""
OURS = ("tensor", "warps")
WORDS = {"tensor": "napkin", "warps": "napkin, single warps"}


def sources_of(manifest):
    """What the results keep of the manifest, so that a page needs nothing else."""
    return {id_: {"case": one["case"], "variant": one["variant"], "family": one["family"],
                  "planned_path": one["planned_path"],
                  "predicted_s": one["plan"]["predicted_s"], "operations": one["plan"].get("operations"),
                  "partition": one["plan"].get("partition"), "bytes_once": one["bytes_once"],
                  "bounds": bounds(one["plan"]["kernels"]), "kernels": one["plan"]["kernels"]}
            for id_, one in manifest["sources"].items()}


def bounds(kernels):
    """What bounds the kernels, the longest first: the model's words for each."""
    ordered = sorted(kernels, key=lambda one: -(one["predicted_s"] or 0))
    words = [one["bound_by"] + (f" from {one['bound_from']}" if one["bound_from"] else "") for one in ordered
             if one["bound_by"]]
    return ", ".join(dict.fromkeys(words))


def timed(results):
    """Every source that was timed, with its step."""
    for id_, source in results.get("sources", {}).items():
        step = results["steps"].get(f"time {id_}/planned")
        if step and step.get("seconds") and step["status"] == "good":
            yield id_, source, step


def rivals_of(results, case):
    """Seconds of others for a case, by name, where their results are those of the kernel."""
    found = {}
    for kind in ("rivals", "triton"):
        for name, one in results["steps"].get(f"{kind} {case}", {}).get("columns", {}).items():
            if one.get("seconds") and one.get("good"):
                found[name] = one["seconds"]
    return found


def milliseconds(seconds):
    return "-" if not seconds else f"{seconds * 1e3:.4f}" if seconds < 1e-4 else f"{seconds * 1e3:.3f}"


def share_of_copy(results, source, seconds):
    copied = results.get("copy_bytes_per_s")
    return source["bytes_once"] / seconds / copied if source["family"] == "rows" and copied else None


def row(results, id_, source, step):
    seconds, predicted = step["seconds"], source["predicted_s"]
    clocks = (step.get("load") or {}).get("clocks") or {}
    others = rivals_of(results, source["case"])
    share = share_of_copy(results, source, seconds)
    rate = source["operations"] / seconds * 1e-12 if source["operations"] else None
    return {"id": id_, "case": source["case"], "kernel": WORDS[source["variant"]],
            "path": step.get("path") or source["planned_path"],
            "seconds": seconds, "predicted_s": predicted, "ratio": predicted / seconds if predicted else None,
            "bounds": source["bounds"], "others": {name: other / seconds for name, other in others.items()},
            "teraflops": rate, "of_copy": share, "mhz": clocks.get("sm_hz", 0) / 1e6 or None,
            "watts": clocks.get("power_w"),
            "under_load_s": (step.get("load") or {}).get("seconds"), "host_s": step.get("host_s"),
            "error": max([one["error"] for one in step.get("outputs", [])] or [0])}


def rows(results):
    return [row(results, *one) for one in timed(results)]


HEAD = ("case", "kernel", "ms", "predicted ms", "predicted / measured", "bound by", "TFLOP/s", "times as fast as",
        "of copy", "MHz", "W")


def cells(one):
    number = lambda value, form: "" if value is None else format(value, form)
    return (one["case"], one["kernel"], milliseconds(one["seconds"]), milliseconds(one["predicted_s"]),
            number(one["ratio"], ".2f"),
            one["bounds"], number(one["teraflops"], ".1f"),
            ", ".join(f"{name} {times:.2f}" for name, times in one["others"].items()),
            number(one["of_copy"], ".0%"), number(one["mhz"], ".0f"), number(one["watts"], ".0f"))


COUNTED = ("case", "kernel", "bytes by the model", "bytes counted", "counted / model", "DRAM bytes counted", "clocks")


def counted(results):
    """What the model says that enters and leaves the SMs, beside what the hardware counted, for each kernel."""
    for name, step in results["steps"].items():
        source = results["sources"].get(name.removeprefix("count ") + "-tensor") if name.startswith("count ") else None
        for number, (plan, one) in enumerate(zip(source["kernels"], step.get("counters", [])) if source else [], 1):
            by_model, moved = next(iter(plan["bytes"].values())), one["into_sms"] + one["out_of_sms"]
            yield (source["case"], f"{number}: {plan['partition']}", f"{by_model:,}", f"{moved:,.0f}",
                   f"{moved / by_model:.3f}", f"{one['dram_read'] + one['dram_written']:,.0f}", f"{one['clocks']:,.0f}")


def measured(results):
    """The benchmarks for what profiles assume."""
    for name, one in results.get("micro", {}).items():
        watts = (one.get("clocks") or {}).get("power_w")
        yield (name, f"{one['value']:.4g}", f"{one['hz'] / 1e6:.0f}" if one.get("hz") else "",
               f"{watts:.0f}" if watts else "")


MEASURED = ("benchmark", "a second, or seconds, or clocks", "MHz it saw", "W")


def problems(results):
    """Steps that are not good, in words."""
    return [(name, one["status"], "; ".join(one.get("problems", []))) for name, one in results["steps"].items()
            if one["status"] != "good"]


def left_out(results):
    """Reasons, and what was left out for each."""
    reasons = {}
    for name, why in results.get("left_out", {}).items():
        reasons.setdefault(why, []).append(name)
    return reasons


def head_of(results):
    device = results.get("device") or {}
    name = device.get("name") if isinstance(device, dict) else device
    words = f"{results.get('gpu') or ''}, {results.get('started', '')}, for {results.get('target', '')}"
    return f"{name or 'no device'}, {words}"


def text(results):
    lines = [head_of(results), ""]
    table = [HEAD, *(cells(one) for one in rows(results))]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD))]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table]
    states = [one["status"] for one in results["steps"].values()]
    lines += ["", f"{states.count('good')} of {len(states)} steps are good"]
    lines += [f"{status}: {name}: {words}" for name, status, words in problems(results)]
    lines += [f"left out, {why}: {', '.join(names)}" for why, names in left_out(results).items()]
    return "\n".join(lines) + "\n"


def write(results, folder):
    (folder / "table.txt").write_text(text(results))
