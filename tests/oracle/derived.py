WHAT = ("wrong derivation",)


def check(case, rng, counts, wire=""):
    return []
