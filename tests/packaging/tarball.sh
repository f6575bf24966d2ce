#!/bin/sh
# Packs a release, twice, and configures what was unpacked without a network.
# usage: tarball.sh SOURCE_FOLDER WORK_FOLDER CMAKE GENERATOR COMPILER
set -eu

source=$1
work=$2
cmake=$3
generator=$4
compiler=$5
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work/again"
SOURCE_DATE_EPOCH=1
export SOURCE_DATE_EPOCH
"$source/scripts/release.sh" "$work"
"$source/scripts/release.sh" "$work/again"
cd "$work"
archive=$(echo napkin-*.tar.gz)
name=${archive%.tar.gz}
cmp "$archive" "again/$archive" || fail "the same tree gave other bytes"

# Everything is below one folder, and what was unpacked packs itself, without git, to the same bytes.
tar tzf "$archive" | grep -v "^$name/" && fail "there is something beside $name"
tar xzf "$archive"
cp "$archive" first.tar.gz
"$name/scripts/release.sh" "$work"
cmp "$archive" first.tar.gz || fail "what was unpacked is not what was packed"

# The program without tests, and the tests: both are configured with what the machine has.
offline=
unshare -n true 2>/dev/null && offline='unshare -n'
[ "$offline" ] || echo "unshare cannot take the network away here: configured with it"
for tests in OFF ON; do
  $offline "$cmake" -G "$generator" -S "$name" -B "built_$tests" -D CMAKE_CXX_COMPILER="$compiler" \
    -D FETCHCONTENT_FULLY_DISCONNECTED=ON -D CMAKE_BUILD_TYPE=Release -D CMAKE_SUPPRESS_REGENERATION=ON -D NAPKIN_TESTS=$tests >configured.txt 2>&1 ||
    { cat configured.txt; fail "it is not configured without a network, NAPKIN_TESTS=$tests"; }
  # Every file that the build reads is there.
  "$cmake" --build "built_$tests" -- -n >planned.txt 2>&1 || { cat planned.txt; fail "it has nothing to build"; }
  grep -q 'main.cpp' planned.txt || fail "no program would be built"
done
grep -q '^Catch2_DIR' built_OFF/CMakeCache.txt && fail "the program alone asks for Catch2"
echo "$archive is configured without a network"
