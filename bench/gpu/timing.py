"""Medians of many launches on one device, over several sets of inputs so that its cache does not hold them all."""
import statistics

WARM_UP, LAUNCHES, MOST_SETS, FEWEST_SETS = 5, 50, 16, 2
AHEAD = 200_000_000  # clocks that the device idles while launches queue up, so that their own time is what is measured


def draw(torch, case, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    return [torch.randn(shape, device="cuda", dtype=getattr(torch, case.type), generator=generator)
            for shape in case.inputs.values()]


def input_sets(torch, case):
    """So many that twice the second-level cache is read before any comes again, if memory allows."""
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    wanted = -(-2 * cache // case.bytes_once())
    return [draw(torch, case, seed) for seed in range(max(FEWEST_SETS, min(MOST_SETS, wanted)))]


def seconds(torch, call, sets):
    for i in range(WARM_UP):
        call(*sets[i % len(sets)])
    torch.cuda.synchronize()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(LAUNCHES)]
    torch.cuda._sleep(AHEAD)
    for i, (begin, end) in enumerate(events):
        begin.record()
        call(*sets[i % len(sets)])
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in events) * 1e-3


def error(torch, case, call, inputs):
    """Relative to the meaning in float64, by norm, on a part of the output."""
    where, expected = case.meaning(torch, inputs)
    got = call(*inputs)[where].double()
    return float((got - expected).norm() / expected.norm())


def copy_bandwidth(torch):
    """Bytes read and written in a second by a copy of 1 GiB."""
    source = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2**31 / seconds(torch, lambda: target.copy_(source), [()])
