#!/usr/bin/env bash
# Runs every command of docs/tutorial.md in order, writes what it prints below it, and keeps the pictures that the
# commands draw in docs/pictures/tutorial. With --check the script only says what differs.
# usage: scripts/update_tutorial.sh [--check] [PROGRAM]     PROGRAM is build/release/napkin if not given
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
source scripts/transcripts.sh

start_transcripts "$@"
fresh_document docs/tutorial.md >"$work/tutorial.md"
keep "$work/tutorial.md" docs/tutorial.md

# The pictures that the tutorial shows are those that its commands have drawn, and no others lie in their folder.
shown=$(grep -o '(pictures/tutorial/[^)]*)' docs/tutorial.md | sed 's/.*\/\(.*\))/\1/' | sort -u)
[[ $shown ]] || fail "docs/tutorial.md shows no picture"
for picture in $shown; do
  [[ -e $work/tree/$picture ]] || fail "no command of docs/tutorial.md draws $picture"
  keep "$work/tree/$picture" "docs/pictures/tutorial/$picture"
done
unknown=$(comm -13 <(echo "$shown") <(cd docs/pictures/tutorial && ls | sort))
[[ ! $unknown ]] || fail "docs/tutorial.md does not show ${unknown//$'\n'/, }"
