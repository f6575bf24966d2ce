"""Everything that a run could do, most important first: each step with what it needs built, and its limit."""
import dataclasses
import re

CHECKS_AT_ONCE = 6
SHORT_S, LOAD_S, SUSTAINED_S = 0.15, 0.3, 1.0
MICRO = ("micro_tensor", "micro_memory", "micro_core")


@dataclasses.dataclass
class Step:
    name: str
    kind: str  # copy, check, time, rivals, micro, sanitize, smoke, triton, count
    round: int
    needs: list
    limit_s: float
    least_s: float  # it is not begun where less is left
    job: dict


def job_of(manifest, builder, run, kind, debug, options):
    source = manifest["sources"][run["source"]]
    return {"kind": kind, "run": run, "source": source, "about": manifest["references"][source["name"]],
            "support": str(builder.file_of("support")),
            "library": str(builder.file_of(f"{'debug' if debug else 'kernel'} {source['id']}")),
            "reference": str(builder.file_of(f"reference {source['name']}")), "reference_s": options.reference_seconds,
            "time_s": SHORT_S, "load_s": SUSTAINED_S if source["sustained"] else LOAD_S}


def of_run(manifest, builder, run, options):
    source = manifest["sources"][run["source"]]
    timed = run["kind"] == "time"
    key = f"{'kernel' if timed else 'debug'} {source['id']}"
    return Step(f"{run['kind']} {run['id']}", run["kind"], run["round"],
                ["support", key, f"reference {source['name']}"],
                options.limit, 5.0 if timed else 3.0, job_of(manifest, builder, run, run["kind"], not timed, options))


def sanitized(manifest, builder, options):
    runs = [run for run in manifest["runs"] if manifest["sources"][run["source"]]["sanitized"]
            and run["id"].endswith("/small")]
    for run in runs:
        source = manifest["sources"][run["source"]]
        job = {**job_of(manifest, builder, run, "check", False, options), "brief": True}
        yield Step(f"sanitize {run['id']}", "sanitize", 3,
                   ["support", f"kernel {source['id']}", f"reference {source['name']}"],
                   4 * options.limit, 15.0, job)


def rivals(manifest, builder, options):
    """A case for everything that somebody else computes as well."""
    for run in manifest["runs"]:
        source = manifest["sources"][run["source"]]
        if run["kind"] != "time" or not source["rival"] or source["variant"] != "tensor":
            continue
        job = job_of(manifest, builder, run, "rivals", False, options)
        yield Step(f"rivals {source['case']}", "rivals", run["round"], job_needs(source), 15.0, 8.0, job)
        if source["rival"] in ("attention", "causal"):
            yield Step(f"triton {source['case']}", "triton", run["round"] + 4, job_needs(source), 60.0, 20.0,
                       {**job, "only": "triton"})


def job_needs(source):
    return [f"kernel {source['id']}"]


def micro(builder, options):
    for name in MICRO:
        yield Step(f"micro {name}", "micro", 3, [f"micro {name}"], 60.0, 10.0,
                   {"library": str(builder.file_of(f"micro {name}"))})


def counted(manifest, builder, options):
    """What the hardware counts of the kernels that are timed; another program stands around each process."""
    for run in manifest["runs"]:
        source = manifest["sources"][run["source"]]
        if run["kind"] == "time" and source["variant"] == "tensor":
            yield Step(f"count {source['case']}", "count", max(3, run["round"]), ["support", *job_needs(source)], 60.0,
                       10.0, job_of(manifest, builder, run, "launch", False, options))


def smoke(manifest, builder, pack, options):
    for source in manifest["sources"].values():
        if source["binding"] and source["variant"] == "tensor":
            yield Step(f"smoke {source['case']}", "smoke", 4, [], 240.0, 30.0,
                       {"folder": str(pack / "sources" / source["id"]), "source": source,
                        "output": str(options.output)})


ORDER = ("copy", "check", "sanitize", "time", "micro", "rivals", "smoke", "triton", "count")


def all_steps(manifest, builder, pack, options):
    """Sorted by round, and within one: checks, then times beside others."""
    steps = [Step("copy", "copy", 0, ["support"], 60.0, 2.0,
                  {"kind": "copy", "support": str(builder.file_of("support")), "bytes": options.copy_bytes})]
    steps += [of_run(manifest, builder, run, options) for run in manifest["runs"]]
    steps += [*sanitized(manifest, builder, options), *rivals(manifest, builder, options), *micro(builder, options),
              *smoke(manifest, builder, pack, options), *counted(manifest, builder, options)]
    steps = [step for step in steps if re.search(options.only, step.name) or step.kind == "copy"]
    return sorted(steps, key=lambda step: (step.round, ORDER.index(step.kind)))
