"""napkin's own best pieces beside those of published kernels, and pieces that their authors tried and left."""
import napkin
from diagrams import ATTENTION

# Queries, keys and warps (flash_fwd_launch_template.h) or warpgroups' rows (hopper/tile_size.h, divided by napkin).
KERNELS = [("FlashAttention-2", "a100-sxm4-80", width, causal, tile) for width, causal, tile in
           ((32, False, (128, 128, 4)), (64, False, (128, 128, 4)), (64, True, (128, 128, 4)), (96, False, (128, 64, 4)),
            (128, False, (128, 64, 4)), (128, True, (128, 64, 4)), (256, False, (128, 64, 8)))]
KERNELS += [("FlashAttention-3", "h100-sxm5", width, causal, tile + (None,)) for width, causal, tile in
            ((64, False, (192, 192)), (64, True, (192, 128)), (96, False, (192, 144)), (128, False, (128, 176)),
             (128, True, (128, 128)), (192, False, (128, 112)), (256, False, (128, 80)))]
# Notes in flash_fwd_launch_template.h, at 2048 positions: how much slower than the pieces above.
LEFT = [(64, (128, 128, 8), 18), (64, (128, 128, 2), 5), (64, (64, 256, 4), 27), (64, (256, 64, 4), 85),
        (128, (128, 128, 8), 28), (128, (256, 64, 8), 28)]
# Less of a difference is none.
SAME = 0.005
# Lines of a launch that say together how long the busiest unit of an SM works.
BUSIEST = "the busiest unit of an SM"
TOGETHER = {BUSIEST: ("tiles that several", "the busiest unit"), "operations that wait for each other": "operations"}
OVERLAP = {"none": "no overlap", "copies": "multistage", "beside": "co-resident blocks overlap", "within_team": "intra-warpgroup overlap",
           "two_teams": "ping-pong", "three_teams": "ping-pong of three"}
WORDS = {"fma": "lanes", "sfu": "special functions", "shared": "reads of shared memory", "copy": "loads of tiles"}


def diagram(width, causal, seq):
    score = "where(x <= q, S[b, h, q, x], -inf)" if causal else "S[b, h, q, x]"
    return ATTENTION.format(batch=16384 // seq, heads=2048 // width, seq=seq, head_dim=width, dtype="f16", score=score)


def pieces(tile):
    queries, keys, warps = tile
    return f"group b 1, h 1, q {queries}, stream x {keys} at smem" + (f"; group q {queries // warps} at reg" if warps else "")


def how(configuration):
    """What runs on a core, and what is slowest there."""
    chosen = next(one for one in configuration["pipelinings"] if one["overlap"] == configuration["chosen"])
    fits = chosen["occupancy"]["as_allocated"]
    blocks, stages = fits["blocks"], chosen["stages"]
    return (f"{blocks} block{'s'[:blocks != 1]} of {fits['warps'] // max(1, blocks)} warps, {stages} stage{'s'[:stages != 1]}, "
            f"{OVERLAP[configuration['chosen']]}; bound by {configuration['bound']}, blocks limited by {fits['limited_by']}")


def chosen_pieces(report):
    splits = [one for one in report["kernels"][0]["partition"] if one["level"] == "smem" and one["size"] > 1]
    return ", ".join(f"{one['kind']} {one['axis']} {one['size']}" for one in splits)


def parts_of(launch):
    """The lines of the time, in short; several say together how long the busiest unit of an SM works."""
    parts = {BUSIEST: launch["ideal_time_s"]}
    for one in launch["losses"]:
        name = next((name for name, begins in TOGETHER.items() if one["what"].startswith(begins)), one["what"].split(",")[0])
        parts[name] = parts.get(name, 0) + one["seconds"]
    return parts


def signed(change):
    return f"{100 * change:+.0f} %"


def beside_products(configuration):
    """Seconds of each other part of a core over those of its matrix units; none where operations stand outside the mainloop."""
    seconds = {one["on"]: one["time_s"] for one in configuration["resources"]}
    return {on: seconds[on] / seconds["tensor"] for on in WORDS if on in seconds} if not outside(configuration) else {}


def outside(configuration):
    lines = {one["what"]: one["seconds"] for one in configuration["launch"]["losses"]}
    return lines.get("operations outside the mainloop", 0) > 0.02 * configuration["launch"]["time_s"]


def why(theirs, ours):
    """The lines that make the difference, largest first, and what else is otherwise of a step and of the launch."""
    before, after = theirs["launch"], ours["launch"]
    gain = after["time_s"] - before["time_s"]
    if abs(gain) < SAME * before["time_s"]:
        return ""
    lines = {what: parts_of(after).get(what, 0) - one for what, one in parts_of(before).items()}
    largest = sorted((what for what in lines if lines[what] / gain > 0.2), key=lambda what: -lines[what] / gain)[:2]
    text = "; ".join(f"{what} {signed(lines[what] / before['time_s'])}" for what in largest)
    then, now = beside_products(theirs), beside_products(ours)
    ratios = {WORDS[on]: now[on] / then[on] for on in now if on in then}
    ratios |= {key: after[key] / before[key] for key in ("steps", "blocks")}
    ratios["iterations"] = ratios.pop("steps")
    changed = [f"{name} {signed(ratio - 1)}" for name, ratio in ratios.items() if abs(ratio - 1) > 0.05]
    return text + (f" ({', '.join(changed)})" if changed else "")


def compared(name, machine, width, causal, tile):
    text = diagram(width, causal, 4096)
    theirs = napkin.analyze(text, machine, pieces(tile), napkin.BY_HAND)["kernels"][0]["configuration"]
    found = napkin.analyze(text, machine, None, napkin.BY_HAND)
    ours = found["kernels"][0]["configuration"]
    kernel_seconds = theirs["launch"]["time_s"] if theirs["launch"] else float("inf")
    ratio = found["totals"]["time_s"] / kernel_seconds
    words = "same" if abs(ratio - 1) < SAME else f"{'better' if ratio < 1 else 'worse'} by {abs(100 * (1 - ratio)):.0f} %"
    mask = ", causal" if causal else ""
    return (f"| {name}, d {width}{mask} | q {tile[0]}, x {tile[1]} | {how(theirs)} | {chosen_pieces(found)} | {how(ours)} "
            f"| {words} | {why(theirs, ours)} |")


def slower(width, tile, published):
    text = diagram(width, False, 2048)
    base = (128, 128, 4) if width == 64 else (128, 64, 4)
    best, other = (napkin.analyze(text, "a100-sxm4-80", pieces(one), napkin.BY_HAND)["kernels"][0]["configuration"] for one in (base, tile))
    ratio = other["launch"]["time_s"] / best["launch"]["time_s"] if other["launch"] else 0
    told = f"{100 * (ratio - 1):.0f} % | {how(other)} | {why(best, other)}" if ratio else f"does not run | {refused(other)} | "
    return f"| d {width} | q {tile[0]}, x {tile[1]}, {tile[2]} warps | {published} % | {told} |"


def refused(configuration):
    registers = configuration["pipelinings"][0]["occupancy"]["as_allocated"]["registers_per_thread"]
    return f"a thread needs {registers} registers"


def page():
    lines = ["## Choosing", "", "The table compares the best partition that the search finds with the tiles of the real kernels, both by the model, at "
             "4 x 4096 positions and 2048 / d heads. The last column gives the lines of the launch that make most of the difference, as "
             "shares of the time with the kernel's own tiles. It also gives the parts of an iteration that change by more than 5 % relative "
             "to its products, and the numbers of iterations and blocks. The rows of FlashAttention-3 assume 20 registers of a thread beside "
             "its arrays, which suffice for its own kernels, and not the 48 that ptxas needs for napkin's.", "",
             "| kernel | its tiles | how they run | napkin's | how they run | by the model | why |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    lines += [compared(*one) for one in KERNELS]
    lines += ["", "FlashAttention-2's source calls these tiles slower than its own, on an A100 at 2048 positions:", "",
              "| width | tiles | slower, published | slower, predicted | how they run | why |",
              "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join(lines + [slower(*one) for one in LEFT]) + "\n"
