#!/usr/bin/env python3
"""Changes lines of src at random, one at a time, and counts how many of the changes the tests notice.

usage: scripts/mutate.py [--count N] [--seed S] [--folder FOLDER] [--only PATH] [--tests SPEC] [--jobs J]

Each change is small: another operator, comparison, constant or branch, or a statement left out. It is made in a copy of the last
commit below FOLDER (build/mutants if not given), never in the tree. A change is noticed where napkin_tests fails, ends by a signal,
or takes several times as long; of its cases those of SPEC are run, which are all but [long] ones if it is not given. What does not compile does not count and is replaced.
The last lines are a table of what survived, and the share that was noticed.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parent.parent
SWAPS = [(" == ", " != "), (" != ", " == "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
         (" + ", " - "), (" - ", " + "), (" * ", " / "), (" / ", " * "), (" += ", " -= "), (" && ", " || "), (" || ", " && "),
         ("std::max(", "std::min("), ("std::min(", "std::max("), ("true", "false"), ("false", "true"), ("any_of(", "all_of("),
         ("all_of(", "any_of(")]
CONSTANT = re.compile(r"(?<![\w.'\"])\d+(?![\w.'\"])")
CONDITION = re.compile(r"^(\s*)if \(((?:[^()]|\([^()]*\))*)\) ")
STATEMENT = re.compile(r"^\s+[a-z_][\w.\[\]>-]*(?: [+*/|-]?= .*|\(.*\));$")
DECLARED = re.compile(r"^\s+(return|const|auto|using|static|throw|break|continue|delete|else|case|std::\w+<?[^(]* \w+)\b")


def outside_texts(line):
    """The line with blanks for what stands between quotes, and without its comment."""
    blank = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'', lambda text: "\0" * len(text[0]), line)
    return blank.split("//")[0]


def changes_of(line):
    """Every change of a line: what it is, and the line then."""
    bare, found = outside_texts(line), []
    if re.match(r"\s*(#|template|namespace|\}|static_assert|using)", bare) or re.match(r"\S.*[{;]$", bare):
        return []
    for before, after in SWAPS:
        for at in [one.start() for one in re.finditer(r"(?<!\w)" + re.escape(before), bare)]:
            found.append((f"`{before.strip()}` is `{after.strip()}`", line[:at] + after + line[at + len(before):]))
    for one in CONSTANT.finditer(bare):
        found.append((f"{one[0]} is {int(one[0]) + 1}", line[:one.start()] + str(int(one[0]) + 1) + line[one.end():]))
    if condition := CONDITION.match(bare):
        inner = line[condition.start(2):condition.end(2)]
        if ";" not in inner and " = " not in inner:
            found.append(("the condition is negated", f"{condition[1]}if (!({inner})) " + line[condition.end():]))
    if STATEMENT.match(bare) and not DECLARED.match(bare):
        found.append(("the statement is left out", re.match(r"\s*", line)[0] + ";"))
    return found


def candidates(tree, only):
    """All lines that can be changed, as file and number."""
    return [(path, number) for path in sorted((tree / "src").rglob("*.cpp")) if str(path.relative_to(tree)).startswith(only)
            for number, line in enumerate(path.read_text().splitlines()) if changes_of(line)]


def run(*words, seconds=None, **more):
    """The exit code, or None where it took too long."""
    try:
        return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds, **more).returncode
    except subprocess.TimeoutExpired:
        return None


def prepared(folder):
    """The copy, and its build file by file, so that a change compiles one of them."""
    tree, build = folder / "tree", folder / "build"
    if not tree.exists():
        subprocess.run(["git", "-C", root, "worktree", "add", "--detach", tree, "HEAD"], check=True)
    subprocess.run(["git", "-C", tree, "checkout", "--quiet", "--force", "--detach",
                    subprocess.check_output(["git", "-C", root, "rev-parse", "HEAD"], text=True).strip()], check=True)
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D", "NAPKIN_UNITY=OFF",
                    "-D", "CMAKE_CXX_FLAGS_RELEASE=-O1"], check=True, stdout=subprocess.DEVNULL)
    return tree, build


class Trial:
    def __init__(self, options, tree, build):
        self.tree, self.build, self.jobs, self.spec = tree, build, str(options.jobs), options.tests
        if not self.compiles():
            sys.exit("the tree as it is does not compile")
        begin = time.time()
        if self.tests(None) != 0:
            sys.exit("the tests of the tree as it is fail")
        self.most = 60 + 4 * (time.time() - begin)

    def compiles(self):
        return run("ninja", "-C", self.build, "-j", self.jobs, "napkin_tests", "napkin") == 0

    def tests(self, seconds):
        return run(self.build / "napkin_tests", self.spec, "--abort", "--warn", "NoTests", seconds=seconds, cwd=self.tree)

    def verdict(self, path, number, line):
        """`noticed`, `survived`, or None where the change does not compile."""
        text = path.read_text()
        lines = text.splitlines()
        lines[number] = line
        path.write_text("\n".join(lines) + "\n")
        try:
            if not self.compiles():
                return None
            return "survived" if self.tests(self.most) == 0 else "noticed"
        finally:
            path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, default=root / "build/mutants")
    parser.add_argument("--only", default="src/", help="files whose path begins so")
    parser.add_argument("--tests", default="~[long]", help="cases of napkin_tests that are run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    tree, build = prepared(options.folder.resolve())
    trial, rng = Trial(options, tree, build), random.Random(options.seed)
    places = candidates(tree, options.only)
    rng.shuffle(places)
    made, survived = 0, []
    for path, number in places:
        if made == options.count:
            break
        before = path.read_text().splitlines()[number]
        what, line = rng.choice(changes_of(before))
        verdict = trial.verdict(path, number, line)
        made += verdict is not None
        where = f"{path.relative_to(tree)}:{number + 1}"
        print(f"{verdict or 'does not compile':16} {where}: {what}: {before.strip()}", flush=True)
        if verdict == "survived":
            survived.append(f"| {where} | {what} | `{before.strip()}` |")
    if not made:
        sys.exit("nothing was changed")
    print("\n".join(["", "| survived | change | line |", "| --- | --- | --- |", *survived]))
    print(f"{made - len(survived)} of {made} changes noticed: {100 * (made - len(survived)) / made:.0f} %")


if __name__ == "__main__":
    main()
