#!/usr/bin/env python3
"""Changes lines of src at random, one at a time, and counts how many of the changes the tests notice.

usage: scripts/mutate.py [--count N] [--seed S] [--folder FOLDER] [--only PATH] [--tests SPEC] [--jobs J]

Each change is small: another operator, comparison, constant or branch, or a statement left out. It is made in a copy of the last
commit below FOLDER (build/mutants if not given), never in the tree. All changes are compiled into one program: a block that has a
changed line stands there twice, and the environment's NAPKIN_MUTANT, the number of a change, says which of the two runs. What
does not compile, which is so of most outside functions, is replaced by the next line. Each case of SPEC, which are all but [long]
ones if it is not given, runs once to see how long it takes and which changes it comes to. Then the cases that come to a change
run with it, the shortest first, for all changes before longer ones. It is noticed where one of them fails, ends by a signal, or
takes several times as long. The same seed takes the same lines as long as they are there, whatever else changes. The last lines
are a table of what survived, and the share that was noticed. The program stays in FOLDER/build, where NAPKIN_MUTANT=7 tries one
change with other tests.
"""
import argparse
import hashlib
import os
import pathlib
import random
import re
import shutil
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
BLANK = re.compile(r'R"\((?:.|\n)*?\)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*(?:.|\n)*?\*/')
# What stands before the brace of a block of statements: the end of a signature, a lambda's captures, a condition.
BLOCK = re.compile(r"([)\]]\s*(mutable|const|noexcept|override|->[^=]*)*|\b(else|do|try))\s*$")
# What every changed file includes: which change runs, and which ones a run came to.
HEADER = """#pragma once
#include <cstdio>
#include <cstdlib>
namespace napkin_mutants {
struct Reached {
  bool at[%d] = {};
  ~Reached() {
    const char* path = std::getenv("NAPKIN_REACHED");
    std::FILE* file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    for (int i = 0; i < %d; ++i)
      if (at[i]) std::fprintf(file, "%%d\\n", i);
    std::fclose(file);
  }
};
inline Reached reached;
inline bool is(int number) {
  static const int active = std::getenv("NAPKIN_MUTANT") ? std::atoi(std::getenv("NAPKIN_MUTANT")) : -1;
  reached.at[number] = true;
  return active == number;
}
}
"""


class Change:
    """What stands instead of a span of a file, and the block around it, of which a constant needs none."""

    def __init__(self, path, line, before, what, span, after, block):
        self.path, self.line, self.before, self.what = path, line, before, what
        self.span, self.after, self.block = span, after, block

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}: {self.before}"


def outside_texts(text):
    """The text with blanks for what stands between quotes and in comments."""
    return BLANK.sub(lambda found: re.sub(r"[^\n]", "\0" if found[0][0] in "R\"'" else " ", found[0]), text)


def changes_of(bare):
    """Every change of a line: what it is, where it begins, how long that is, and what stands there then."""
    found = []
    if re.match(r"\s*(#|template|namespace|\}|static_assert|using)", bare) or re.match(r"\S.*[{;]$", bare):
        return []
    for before, after in SWAPS:
        for one in re.finditer(r"(?<!\w)" + re.escape(before), bare):
            found.append((f"`{before.strip()}` is `{after.strip()}`", one.start(), len(before), after))
    for one in CONSTANT.finditer(bare):
        found.append((f"{one[0]} is {int(one[0]) + 1}", one.start(), len(one[0]), str(int(one[0]) + 1)))
    if (condition := CONDITION.match(bare)) and ";" not in condition[2] and " = " not in condition[2]:
        found.append(("the condition is negated", condition.start(2), len(condition[2]), None))
    bare = bare.rstrip()
    if STATEMENT.match(bare) and not DECLARED.match(bare):
        begin = len(bare) - len(bare.lstrip())
        found.append(("the statement is left out", begin, len(bare) - begin, "{}"))
    return found


def blocks_of(bare):
    """Every block of statements, outer ones before those within: where its inside begins and ends."""
    found, opened, head = [], [], 0
    for brace in re.finditer(r"[{};]", bare):
        if brace[0] == "{":
            before = bare[head:brace.start()]
            opened.append(brace.end() if BLOCK.search(before) and "switch (" not in before else None)
        elif brace[0] == "}" and opened and (begin := opened.pop()):
            found.append((begin, brace.start()))
        head = brace.end()
    return sorted(found)


def candidates(plain, only, seed):
    """A change of each line that can be changed, in an order that a seed gives to each line for itself."""
    found = []
    for path in sorted(str(one.relative_to(plain)) for one in (plain / "src").rglob("*.[ch]pp")):
        if not path.startswith(only):
            continue
        text, begin, seen = (plain / path).read_text(), 0, {}
        bare = outside_texts(text)
        blocks = blocks_of(bare)
        for number, (line, blank) in enumerate(zip(text.splitlines(), bare.splitlines())):
            seen[line] = seen.get(line, 0) + 1
            if changes := changes_of(blank):
                key = hashlib.sha256(f"{seed} {path} {seen[line]} {line}".encode()).hexdigest()
                what, at, length, after = random.Random(key).choice(changes)
                span = begin + at, begin + at + length
                after = f"!({text[slice(*span)]})" if after is None else after
                around = [block for block in blocks if block[0] <= span[0] and span[1] <= block[1]]
                if around or re.fullmatch(r"\d+|true|false", after):
                    change = Change(path, number + 1, line.strip(), what, span, after, around[-1] if around else None)
                    found.append((key, change))
            begin += len(line) + 1
    return [change for _, change in sorted(found, key=lambda one: one[0])]


def with_changes(text, changes, name):
    """The text of a file with its changes, each as number and change, in blocks, or constants, that stand there twice."""
    out, grown = text, []

    def line_at(place, of=name):
        return f'\n#line {text.count(chr(10), 0, place) + 1} "{of}"\n'

    for begin, end in sorted({change.block or change.span for _, change in changes}, reverse=True):
        last, new = end + sum(more for at, more in grown if at < end), ""
        for number, change in changes:
            if change.block == (begin, end):
                changed = text[begin:change.span[0]] + change.after + text[change.span[1]:end]
                new += f"if (napkin_mutants::is({number})) {{{line_at(begin, f'mutant-{number}')}{changed}\n}} else "
            elif change.span == (begin, end):
                new = f"(napkin_mutants::is({number}) ? {change.after} : {text[begin:end]})"
                new = line_at(begin, f"mutant-{number}") + new + line_at(end)
        if new.startswith("if"):
            new = f"\n{new}{{{line_at(begin)}{out[begin:last]}\n}}{line_at(end)}"
        grown.append((begin, len(new) - (last - begin)))
        out = out[:begin] + new + out[last:]
    return out


def prepared(folder):
    """The last commit, the copy of it that changes are made in, and the folder that this is built in."""
    plain, tree, build = folder / "plain", folder / "tree", folder / "build"
    if not plain.exists():
        subprocess.run(["git", "-C", root, "worktree", "add", "--detach", plain, "HEAD"], check=True)
    head = subprocess.check_output(["git", "-C", root, "rev-parse", "HEAD"], text=True).strip()
    subprocess.run(["git", "-C", plain, "checkout", "--quiet", "--force", "--detach", head], check=True)
    if not build.exists():
        copy(plain, tree, {})
        subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release",
                        "-D", "CMAKE_CXX_FLAGS_RELEASE=-O1"], check=True, stdout=subprocess.DEVNULL)
    return plain, tree, build


def write(path, text):
    """Writes what is not there yet, so that nothing else is compiled again."""
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def copy(plain, tree, changed):
    """Makes the tree what was committed, with some texts changed."""
    names = subprocess.check_output(["git", "-C", plain, "ls-files", "-z"], text=True).split("\0")[:-1]
    for name in names:
        if (plain / name).is_file():
            write(tree / name, changed[name].encode() if name in changed else (plain / name).read_bytes())
            shutil.copymode(plain / name, tree / name)
    for path in [one for folder in ("src", "tests") for one in (tree / folder).rglob("*.[ch]pp")]:
        if str(path.relative_to(tree)) not in names:
            path.unlink()


def built(plain, tree, build, options):
    """The changes that one program was built with, by number: the first of those that compile."""
    header, known = build / "mutants.hpp", build / "does_not_compile"
    wrong_before = known.read_text().splitlines() if known.exists() else []
    places = list(enumerate(candidates(plain, options.only, options.seed)[:10 * options.count]))
    write(header, (HEADER % (len(places), len(places))).encode())
    while True:
        places = [(number, change) for number, change in places if str(change) not in wrong_before]
        taken, files = places[:options.count], {}
        for number, change in taken:
            files.setdefault(change.path, []).append((number, change))
        copy(plain, tree, {path: f'#include "{header}"\n' + with_changes((plain / path).read_text(), changes, tree / path)
                           for path, changes in files.items()})
        ninja = subprocess.run(["ninja", "-C", build, "-j", str(options.jobs), "-k", "0", "napkin_tests", "napkin"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ninja.returncode == 0:
            return taken
        wrong = {int(number) for number in re.findall(r"mutant-(\d+):\d+:\d+: (?:fatal )?error", ninja.stdout)}
        torn = set(re.findall(r"^(\S+[ch]pp):\d+:\d+: (?:fatal )?error", ninja.stdout, re.M))
        bad = [(number, change) for number, change in taken if number in wrong or str(tree / change.path) in torn]
        if not bad:
            sys.exit("the tree as it is does not compile:\n" + ninja.stdout[-3000:])
        for _, change in bad:
            print(f"does not compile {change}", flush=True)
            wrong_before.append(str(change))
        known.write_text("\n".join(wrong_before))


class Cases:
    """The cases of napkin_tests: how long each takes, and which changes it comes to."""

    def __init__(self, tree, build, spec):
        self.tree, self.program, self.names = tree, build / "napkin_tests", build / "names"
        reached, self.cases = build / "reached", []
        for name in self.listed(spec):
            begin = time.time()
            if self.run([name], 600, NAPKIN_REACHED=str(reached)) == 0:
                self.cases.append((time.time() - begin, name, set(map(int, reached.read_text().split()))))
            else:
                print(f"left out, since it fails without a change: {name}", flush=True)
        self.cases.sort()

    def listed(self, spec):
        """Their names, in the words of Catch2's version 2, whose exit code is their number up to 255, or else of its version 3."""
        for words in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
            listed = subprocess.run([self.program, spec, *words], cwd=self.tree, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True)
            names = listed.stdout.splitlines()
            if listed.returncode == (min(len(names), 255) if len(words) == 1 else 0):
                return names
        sys.exit("the tests cannot be listed")

    def run(self, names, seconds, **more):
        """The exit code, or None where it took too long."""
        self.names.write_text("".join('"' + re.sub(r'[\\,"\[]', r"\\\g<0>", name) + '"\n' for name in names))
        try:
            return subprocess.run([self.program, "--input-file", self.names, "--abort", "--warn", "NoTests"], cwd=self.tree,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds,
                                  env={**os.environ, **more}).returncode
        except subprocess.TimeoutExpired:
            return None

    def parts(self, number):
        """The cases that come to a change: what is over at once, what takes a while, and the rest."""
        total, parts = 0, ([], [], [])
        for seconds, name, reached in self.cases:
            if number in reached:
                total += seconds
                parts[(total > 4) + (total > 20)].append((seconds, name))
        return parts

    def notice(self, number, cases):
        """Whether one of the cases fails with a change."""
        most = 20 + 4 * sum(seconds for seconds, _ in cases)
        return bool(cases) and self.run([name for _, name in cases], most, NAPKIN_MUTANT=str(number)) != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, default=root / "build/mutants")
    parser.add_argument("--only", default="src/", help="files whose path begins so")
    parser.add_argument("--tests", default="~[long]", help="cases of napkin_tests that are run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    options = parser.parse_args()
    plain, tree, build = prepared(options.folder.resolve())
    taken = built(plain, tree, build, options)
    if not taken:
        sys.exit("nothing was changed")
    cases, left = Cases(tree, build, options.tests), dict(taken)
    parts = {number: cases.parts(number) for number in left}
    for which in range(3):
        for number, change in list(left.items()):
            if cases.notice(number, parts[number][which]):
                del left[number]
            print(f"{'still there' if number in left else 'noticed':11} {number:4} {change}", flush=True)
    print("\n".join(["", "| number | survived | change | line | cases |", "| --- | --- | --- | --- | --- |"]))
    for number, change in left.items():
        print(f"| {number} | {change.path}:{change.line} | {change.what} | `{change.before}` | {sum(map(len, parts[number]))} |")
    print(f"{len(taken) - len(left)} of {len(taken)} changes noticed: {100 * (len(taken) - len(left)) / len(taken):.0f} %")


if __name__ == "__main__":
    main()
