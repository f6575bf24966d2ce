"""napkin's own best pieces beside those of published kernels, and pieces that their authors tried and left."""
import napkin
from diagrams import ATTENTION

# Queries, keys and warps (flash_fwd_launch_template.h) or teams' rows (hopper/tile_size.h, dealt out by napkin).
KERNELS = [("FlashAttention-2", "a100-sxm4-80", width, causal, tile) for width, causal, tile in
           ((32, False, (128, 128, 4)), (64, False, (128, 128, 4)), (64, True, (128, 128, 4)), (96, False, (128, 64, 4)),
            (128, False, (128, 64, 4)), (128, True, (128, 64, 4)), (256, False, (128, 64, 8)))]
KERNELS += [("FlashAttention-3", "h100-sxm5", width, causal, tile + (None,)) for width, causal, tile in
            ((64, False, (192, 192)), (64, True, (192, 128)), (96, False, (192, 144)), (128, False, (128, 176)),
             (128, True, (128, 128)), (192, False, (128, 112)), (256, False, (128, 80)))]
# Notes in flash_fwd_launch_template.h, at 2048 positions: how much slower than the pieces above.
LEFT = [(64, (128, 128, 8), 18), (64, (128, 128, 2), 5), (64, (64, 256, 4), 27), (64, (256, 64, 4), 85),
        (128, (128, 128, 8), 28), (128, (256, 64, 8), 28)]


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
    return (f"{fits['blocks']} x {fits['warps'] // max(1, fits['blocks'])} warps, {chosen['stages']} copies, "
            f"{configuration['chosen'].replace('_', ' ')}; {configuration['bound']}, no more fit for {fits['limited_by']}")


def chosen_pieces(report):
    splits = [one for one in report["kernels"][0]["partition"] if one["level"] == "smem" and one["axis"] in ("q", "x")]
    return ", ".join(f"{one['kind']} {one['axis']} {one['size']}" for one in splits)


def compared(name, machine, width, causal, tile):
    text = diagram(width, causal, 4096)
    theirs = napkin.analyze(text, machine, pieces(tile))["kernels"][0]["configuration"]
    found = napkin.analyze(text, machine)
    ours = found["kernels"][0]["configuration"]
    kernel_seconds = theirs["launch"]["time_s"] if theirs["launch"] else float("inf")
    ratio = found["totals"]["time_s"] / kernel_seconds
    words = "same" if abs(ratio - 1) < 0.005 else f"{'better' if ratio < 1 else 'worse'} by {abs(100 * (1 - ratio)):.0f} %"
    mask = ", causal" if causal else ""
    return (f"| {name}, d {width}{mask} | q {tile[0]}, x {tile[1]} | {how(theirs)} | {chosen_pieces(found)} | {how(ours)} "
            f"| {words} |")


def slower(width, tile, published):
    text = diagram(width, False, 2048)
    base = (128, 128, 4) if width == 64 else (128, 64, 4)
    first, best = napkin.launch(text, "a100-sxm4-80", pieces(base))
    other, seconds = napkin.launch(text, "a100-sxm4-80", pieces(tile))
    told = f"{100 * (seconds / best - 1):.0f} %" if other else "does not run"
    return f"| d {width} | q {tile[0]}, x {tile[1]}, {tile[2]} warps | {published} % | {told} |"


def page():
    lines = ["## Choosing", "", "The best partition that the search finds beside the pieces of the real kernels, both by the model, at "
             "4 x 4096 positions and 2048 / d heads:", "",
             "| kernel | its pieces | they run | napkin's | they run | by the model |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [compared(*one) for one in KERNELS]
    lines += ["", "Pieces that FlashAttention-2's source calls slower than its own, on an A100 at 2048 positions:", "",
              "| width | pieces | slower, published | slower, predicted |", "| --- | --- | --- | --- |"]
    return "\n".join(lines + [slower(*one) for one in LEFT]) + "\n"
