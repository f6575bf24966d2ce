#!/bin/sh
# Edits a diagram and a profile while `napkin draw --watch` and `napkin analyze --watch` run, with a mistake in between.
# usage: watch.sh PROGRAM SOURCE_FOLDER
set -eu

program=$1
source=$2
work=$(mktemp -d)
pid=
trap 'kill $pid 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

fail() {
  cat out.txt err.txt
  echo "FAILED: $*" >&2
  exit 1
}
# await WHAT COMMAND...: until the command succeeds.
await() {
  what=$1
  shift
  for _ in $(seq 300); do
    "$@" && return
    sleep 0.1
  done
  fail "$what did not come"
}
has() { grep -q -- "$2" "$1" 2>/dev/null; }
lines() { [ "$(grep -c -- "$2" "$1")" -ge "$3" ]; }
# start ARGUMENTS...
start() {
  : >out.txt
  : >err.txt
  "$program" "$@" >out.txt 2>err.txt &
  pid=$!
  await "what is watched" has err.txt '^note: watching'
}
# Ctrl-C: exit code 130, and no file besides those that were asked for.
stop() {
  kill -INT "$pid"
  status=0
  wait "$pid" || status=$?
  [ "$status" -eq 130 ] || fail "exit code $status, not 130"
  [ "$(echo *)" = "$1" ] || fail "left: $(echo *)"
}

cp "$source/examples/softmax.nap" softmax.nap
start draw softmax.nap --watch -o softmax.svg
has softmax.svg '<svg' || fail "no picture"
has softmax.svg Renamed && fail "a name that is not there yet"

# Written in place, as some editors do.
sed 's/\bP\b/Renamed/g' softmax.nap >new.txt
cat new.txt >softmax.nap
await "the new picture" has softmax.svg Renamed
cp softmax.svg good.svg

# A mistake is printed, and the picture stays.
echo 'garbage(' >>softmax.nap
await "the mistake" has err.txt 'error\[E0107\]'
cmp -s softmax.svg good.svg || fail "the picture changed"
# So is a file that is gone for a moment.
rm softmax.nap
await "the missing file" has err.txt 'error\[E0530\]'

# Replaced by another file, as other editors do.
sed 's/Renamed/Mended/g' new.txt >other.txt
mv other.txt softmax.nap
await "the mended picture" has softmax.svg Mended
rm new.txt good.svg
stop 'err.txt out.txt softmax.nap softmax.svg'

# A profile, and a page.
cp "$source/hardware_profiles/toy.yaml" machine.yaml
start analyze softmax.nap --target ./machine.yaml --format html -o page.html --watch
cp page.html before.html
sed 's/^name: .*/name: renamed_machine/' machine.yaml >new.txt
cat new.txt >machine.yaml
await "the new page" has page.html renamed_machine
has before.html renamed_machine && fail "a name that was not there yet"
has err.txt '^note: ./machine.yaml changed' || fail "what changed is not said"
number() { sed -n 's/^const stamp = "\(.*\)";$/\1/p' "$1"; }
[ -n "$(number page.html)" ] || fail "the page does not reload itself"
[ "$(number page.html)" != "$(number before.html)" ] || fail "the page cannot tell that it changed"
rm new.txt before.html
stop 'err.txt machine.yaml out.txt page.html softmax.nap softmax.svg'

# Without a file the text comes again.
start draw softmax.nap --watch
echo '# a remark' >>softmax.nap
await "the text again" lines out.txt Mended 2
stop 'err.txt machine.yaml out.txt page.html softmax.nap softmax.svg'

# A reader that goes away ends it with the next change.
(
  status=0
  "$program" draw softmax.nap --watch 2>err.txt || status=$?
  echo $status >status.txt
) | head -n 1 >out.txt &
await "the first line" test -s out.txt
await "what is watched" has err.txt '^note: watching'
await "the end" sh -c 'echo "# a remark" >>softmax.nap; sleep 0.5; test -s status.txt'
[ "$(cat status.txt)" -eq 0 ] || fail "exit code $(cat status.txt), not 0"

# What no edit of the files mends ends at once.
status=0
"$program" draw softmax.nap --watch --set z=1 >out.txt 2>err.txt || status=$?
[ "$status" -eq 2 ] || fail "exit code $status, not 2"
echo "what is saved is drawn again"
