#!/bin/sh
# Holds the container file against the tree: what it copies and runs is there, and the last stage installs what the
# first one makes. Its last stage is run by clean_system.sh.
# usage: container.sh PACKAGE_FOLDER SOURCE_FOLDER
set -eu

packages=$1
source=$2
file=$source/scripts/Containerfile
[ -d "$packages" ] || { echo "skipped: no package was made"; exit 77; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Both stages are of one release of Debian.
[ "$(sed -n 's/^FROM debian:\([a-z]*\).*/\1/p' "$file" | sort -u | wc -l)" -eq 1 ] || fail "its stages differ"
[ "$(grep -c '^FROM ' "$file")" -eq 2 ] || fail "it has not two stages"

# The first stage copies the tree, less what the engine is told to leave, and runs a script of it.
script=$(sed -n 's/^RUN \/napkin\///p' "$file")
[ -x "$source/$script" ] || fail "there is no $script"
grep -q '^COPY \. /napkin$' "$file" || fail "the tree is not copied"
grep -qx 'build' "$source/.dockerignore" || fail "builds are copied as well"

# What the second one copies is where the script puts it, by the name that cpack gives.
pattern=$(sed -n 's/^COPY --from=build \/napkin\/\([^ ]*\) \/tmp\/$/\1/p' "$file")
grep -q "$(dirname "$pattern")/" "$source/$script" || fail "$script does not make $pattern"
found=$(find "$packages" -maxdepth 1 -name "$(basename "$pattern")")
[ -n "$found" ] || fail "no package is called $pattern"

commands=$(sh "$source/tests/packaging/last_stage.sh" "$file")
printf '%s\n' "$commands" | sh -n || fail "its last stage is no shell"
printf '%s\n' "$commands" | grep -qF -- " /tmp/$(basename "$pattern") " || fail "it installs something else"
grep -q '^ENTRYPOINT \["napkin"\]$' "$file" || fail "it does not run napkin"
echo "the container file fits the tree"
