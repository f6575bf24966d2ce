#!/usr/bin/env bash
# Formats the C++ sources as .clang-format says; with --check only says which are not. Versions of clang-format
# differ, so it must be Debian 12's, 14; exit code 77 (skipped) where it is not there.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

program=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -z $program ]] || ! "$program" --version | grep -q 'version 14\.'; then
  printf 'skipped: clang-format 14 is not installed\n'
  exit 77
fi
action=(-i)
[[ ${1:-} == --check ]] && action=(--dry-run --Werror)
find src include tests bench -name '*.[ch]pp' -print0 | xargs -0 "$program" "${action[@]}"
