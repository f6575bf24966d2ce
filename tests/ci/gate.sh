#!/bin/sh
# Runs the gate as servers of continuous integration do: the script with the variables that the action and the example
# of docs/ci.md set, in a folder of its own.
# usage: gate.sh PROGRAM SOURCE_FOLDER
set -eu

NAPKIN=$1
source=$2
GATE=$source/scripts/gate.sh
export NAPKIN GATE
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# run STATUS COMMAND...: its output is in out.txt and err.txt
run() {
  expected=$1
  shift
  status=0
  "$@" >out.txt 2>err.txt || status=$?
  [ "$status" -eq "$expected" ] || { cat out.txt err.txt; fail "$*: exit $status, not $expected"; }
}
says() { grep -q -- "$2" "$1" || { cat "$1"; fail "$1 does not say: $2"; }; }

cat >product.nap <<'NAP'
diagram product
axis a = 64; axis b = 64; axis c = 64
input A: f16[a, b]; input B: f16[b, c]
C: f16[a, c] = sum[b](A[a, b] * B[b, c])
output C
NAP
cat >rows.nap <<'NAP'
diagram rows
axis q = 64; axis x = 256
input S: f32[q, x]
P[q, x] = softmax[x](S[q, x])
output P
NAP
NAPKIN_TARGETS=toy
export NAPKIN_TARGETS

# A first run says how to make a baseline, and is not green.
run 2 sh "$GATE" check
says err.txt 'E0536'
says err.txt 'save-baseline napkin-baseline.json'
run 2 sh "$GATE"
run 2 sh "$GATE" chek

run 0 sh "$GATE" save
[ -s napkin-baseline.json ] || fail "no baseline was written"
run 0 sh "$GATE" check
says out.txt 'no change'

# As GitHub's runner: commands in the log, tables in the summary.
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$work/summary.md
export GITHUB_ACTIONS GITHUB_STEP_SUMMARY
run 0 sh "$GATE" check
says summary.md 'Against the baseline'
# A diagram that reads more.
sed 's/input S: f32/input T: f32[q, x]; input S: f32/; s/S\[q, x\])/S[q, x] + T[q, x])/' rows.nap >new.nap
mv new.nap rows.nap
run 3 sh "$GATE" check
says out.txt '^::error file=rows.nap,title=napkin%3A time of rows on toy::'
says summary.md 'Worse than the baseline'
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY

# As GitLab's runner: the script of the example, with its variables but for the target.
sed -n '/^## GitLab/,$ s/^    - \(sh .*\)$/\1/p' "$source/docs/ci.md" >gitlab.sh
sed -n '/^## GitLab/,$ s/^    \(NAPKIN_[A-Z_]*\): "*\([^"]*\)"*$/\1='"'\2'"'; export \1/p' "$source/docs/ci.md" |
  grep -v NAPKIN_TARGETS >variables.sh
says gitlab.sh 'GATE'
says variables.sh 'NAPKIN_JUNIT'
cat variables.sh gitlab.sh >job.sh
run 3 sh job.sh
says napkin.xml '<failure type="failure"'
says napkin.xml 'classname="rows on toy" name="time"'
rm napkin.xml

# Another size is another problem.
NAPKIN_OPTIONS='--set x=512'
export NAPKIN_OPTIONS
run 2 sh job.sh
says err.txt 'E0535'
says napkin.xml '<error type="error"'
unset NAPKIN_OPTIONS

# The action runs this script, and hands it every input that it has.
action=$source/.github/actions/napkin-gate/action.yml
says "$action" 'run: sh "$GITHUB_ACTION_PATH/../../../scripts/gate.sh" "$NAPKIN_MODE"'
[ -f "$(dirname "$action")/../../../scripts/gate.sh" ] || fail "the action's script is not there"
for input in $(sed -n '/^inputs:/,/^runs:/ s/^  \([a-z-]*\):$/\1/p' "$action"); do
  says "$action" "NAPKIN.*: \${{ inputs.$input }}"
done
for variable in $(sed -n 's/^        \(NAPKIN[A-Z_]*\): .*/\1/p' "$action"); do
  [ "$variable" = NAPKIN_MODE ] || says "$GATE" "$variable"
done

# The lines that docs/ci.md shows for a shell.
run 0 sh "$GATE" save
sed -n '/^```sh$/,/^```$/p' "$source/docs/ci.md" | grep -v '^```' | sed "s/NAPKIN_TARGETS='[^']*'/NAPKIN_TARGETS=toy/" >shown.sh
says shown.sh 'save'
run 0 sh -e shown.sh
says napkin-baseline.json 'gmem.transfer_bytes'

echo "the gate is as docs/ci.md says"
