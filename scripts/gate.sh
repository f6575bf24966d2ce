#!/bin/sh
# The performance gate of a repository of diagrams, for every server of continuous integration: what the GitHub action
# and the GitLab example of docs/ci.md run, and what a person runs at home.
#
# usage: gate.sh check|save
#
# It reads these variables; lists are separated by spaces, and names of files may have wildcards:
#   NAPKIN                 the program               (napkin)
#   NAPKIN_FILES           diagrams                  (*.nap)
#   NAPKIN_TARGETS         targets                   (h100-sxm5)
#   NAPKIN_METRICS         metrics                   (the time)
#   NAPKIN_BASELINE        the file of baselines     (napkin-baseline.json)
#   NAPKIN_MAX_REGRESSION  what may be lost          (0%)
#   NAPKIN_OPTIONS         more options of `napkin compare`, such as `--set q=2048`
#   NAPKIN_JUNIT           where to write a report for JUnit, if anywhere
#
# The exit status is that of `napkin compare`: 0 as good as the baseline, 1 wrong input, 2 no baseline or one of
# something else, 3 worse.
set -u

napkin=${NAPKIN:-napkin}
baseline=${NAPKIN_BASELINE:-napkin-baseline.json}
targets=${NAPKIN_TARGETS:-h100-sxm5}

usage() {
  echo "usage: gate.sh check|save" >&2
  exit 2
}
[ $# -eq 1 ] || usage
mode=$1

# Lists are split at spaces, and files expanded, on purpose.
# shellcheck disable=SC2086
set -- ${NAPKIN_FILES:-*.nap}
for target in $targets; do set -- "$@" --target "$target"; done
for metric in ${NAPKIN_METRICS:-}; do set -- "$@" --metric "$metric"; done
# shellcheck disable=SC2086
set -- "$@" ${NAPKIN_OPTIONS:-}

save() {
  "$napkin" compare "$@" --save-baseline "$baseline"
}

# One run decides; what other readers want is printed by runs of its own, whatever they say of it.
check() {
  set -- "$@" --baseline "$baseline" --max-regression "${NAPKIN_MAX_REGRESSION:-0%}"
  form=text
  [ "${GITHUB_ACTIONS:-}" = true ] && form=github
  "$napkin" compare "$@" --format "$form"
  status=$?
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    "$napkin" compare "$@" --quiet --format markdown >>"$GITHUB_STEP_SUMMARY" 2>/dev/null ||
      [ $status -ne 0 ] || status=1
  fi
  if [ -n "${NAPKIN_JUNIT:-}" ]; then
    rm -f "$NAPKIN_JUNIT" # that of an earlier run would speak for this one
    "$napkin" compare "$@" --quiet --format junit -o "$NAPKIN_JUNIT" 2>/dev/null || [ $status -ne 0 ] || status=1
  fi
  return $status
}

case $mode in
  check) check "$@" ;;
  save) save "$@" ;;
  *) usage ;;
esac
