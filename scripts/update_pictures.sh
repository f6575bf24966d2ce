#!/usr/bin/env bash
# Draws the pictures of the documents, docs/pictures/*.svg. With --check only says which are not what the program draws.
# usage: scripts/update_pictures.sh [--check] [PROGRAM]     PROGRAM is build/release/napkin if not given
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

check=
[[ ${1:-} == --check ]] && { check=yes; shift; }
program=$(realpath "${1:-build/release/napkin}")
[[ -x $program ]] || fail "$program is not there: build it first, or name the program"

# Each line: the picture, and what draws it.
pictures() {
  cat <<'EOF'
attention draw examples/attention.nap
attention_h100 draw examples/attention.nap --target h100-sxm5 --partition flash2
attention_transfers analyze examples/attention.nap --target h100-sxm5 --partition "group q 64, d' 64, stream x 64 at smem" --plot transfers
attention_roofline analyze examples/attention.nap --target h100-sxm5 --partition "group q 64, d' 64, stream x 64 at smem" --plot roofline
attention_timeline analyze examples/attention.nap --target h100-sxm5 --partition "group q 64, d' 64, stream x 64 at smem" --plot timeline
attention_turns analyze examples/attention.nap --target h100-sxm5 --partition flash2 --plot timeline
attention_loops analyze examples/attention.nap --target h100-sxm5 --partition "group q 64, d' 64, stream x 64 at smem" --plot loops
matmul_rooms analyze examples/matmul.nap --target h100-sxm5 --plot rooms
causal draw examples/causal.nap
convolution draw examples/convolution.nap
EOF
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r name arguments; do
  eval "\"\$program\" $arguments --quiet -o \"\$work/\$name.svg\""
  if [[ ! $check ]]; then
    cp "$work/$name.svg" "docs/pictures/$name.svg"
  elif ! cmp -s "$work/$name.svg" "docs/pictures/$name.svg"; then
    fail "docs/pictures/$name.svg is not what the program draws: run scripts/update_pictures.sh"
  fi
done < <(pictures)
