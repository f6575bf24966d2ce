WHAT = ("transfers differ",)


def check(case, plan, tools, counts):
    return []
