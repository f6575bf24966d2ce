#!/usr/bin/env bash
# Runs every line `$ command` of README's ```console blocks and writes what it prints below it. With --check only
# says where README.md differs from what the program prints.
# usage: scripts/update_readme.sh [--check] [PROGRAM]     PROGRAM is build/release/napkin if not given
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

check=
[[ ${1:-} == --check ]] && { check=yes; shift; }
program=$(realpath "${1:-build/release/napkin}")
[[ -x $program ]] || fail "$program is not there: build it first, or name the program"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/napkin"
export PATH=$work/bin:$PATH

# The commands run in a copy of what a reader has, so that what they write is not left in the tree.
mkdir "$work/tree"
cp -r examples hardware_profiles "$work/tree"

# README with every transcript as it comes out now.
fresh_readme() {
  local inside= line
  while IFS= read -r line; do
    case $line in
      '```console') inside=yes ;;
      '```') inside= ;;
    esac
    if [[ -z $inside || $line == '```console' ]]; then
      printf '%s\n' "$line"
    elif [[ $line == '$ '* ]]; then
      printf '%s\n' "$line"
      (cd "$work/tree" && bash -c "${line#'$ '}" 2>&1) </dev/null || true
    fi
  done <README.md
}

fresh_readme >"$work/README.md"
if [[ $check ]]; then
  diff -u README.md "$work/README.md" || fail "README.md is not what the program prints: run scripts/update_readme.sh"
else
  cp "$work/README.md" README.md
fi
