#!/usr/bin/env bash
# Installs what is missing, builds a release and runs every test. With --ci warnings are errors, and a second build, by clang++
# with AddressSanitizer and UndefinedBehaviorSanitizer, runs the short cases of napkin_tests. The last line counts.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

[[ $# -eq 0 || ( $# -eq 1 && $1 == --ci ) ]] || fail "usage: scripts/test.sh [--ci]"
ci=${1:-}

passed=0 failed=0 skipped=0
# Runs the tests of a preset and adds to the three counts.
run_tests() {
  local report=$PWD/build/$1/tests.xml
  rm -f "$report"
  say "testing $1"
  ctest --preset "$1" -j "$(nproc)" --output-junit "$report" || true
  [[ -s $report ]] || fail "the tests of $1 did not run"
  local total failures skips
  total=$(attribute tests) failures=$(attribute failures) skips=$(($(attribute skipped) + $(attribute disabled)))
  failed=$((failed + failures)) skipped=$((skipped + skips)) passed=$((passed + total - failures - skips))
}
attribute() { sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$report" | head -n 1; }

need_packages "${build_packages[@]}" clang-format python3 python3-numpy librsvg2-bin dpkg-dev file
# Only for the tests of pages in a browser, of packages and of operators of PyTorch, which are skipped without them.
want_packages chromium nodejs npm
want_packages mandoc mmdebstrap # for the manual and the package, in a clean system
want_packages python3-torch libtorch-dev python3-setuptools
if [[ $ci ]]; then
  need_packages clang libclang-rt-dev
  configure_preset release -D CMAKE_COMPILE_WARNING_AS_ERROR=ON -D NAPKIN_TESTS=LONG
else
  configure_preset release -D CMAKE_COMPILE_WARNING_AS_ERROR=OFF -D NAPKIN_TESTS=ON
fi
build_preset release
run_tests release
if [[ $ci ]]; then
  configure_preset asan-clang
  build_preset asan-clang
  run_tests asan-clang
fi

printf '\n%d passed, %d failed' "$passed" "$failed"
[[ $skipped -eq 0 ]] || printf ', %d skipped' "$skipped"
printf '\n'
[[ $failed -eq 0 && $passed -gt 0 ]]
