#!/usr/bin/env bash
# Drives the pages that napkin writes in a headless Chromium: tests/browser/run.sh PROGRAM FOLDER. The packages that do
# so are installed in FOLDER, never in the tree. Without a browser, node or npm's registry it says what it skips.
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"

skip() { echo "skipped: $*"; exit 77; }
browser=
for name in chromium chromium-browser google-chrome; do
  [[ $browser ]] || browser=$(command -v "$name" || true)
done
[[ $browser ]] || skip "chromium is not installed"
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
[[ $(node -p 'process.versions.node.split(".")[0]') -ge 18 ]] || skip "node is older than 18"

if ! cmp -s "$here/package-lock.json" package-lock.json || [[ ! -d node_modules ]]; then
  rm -rf node_modules package-lock.json
  cp "$here/package.json" .
  cp "$here/package-lock.json" installing.json && mv installing.json package-lock.json
  if ! timeout 300 npm ci --no-audit --no-fund --ignore-scripts >npm.log 2>&1; then
    rm -f package-lock.json
    skip "npm cannot install its packages: $(tail -n 1 npm.log)"
  fi
fi
cp "$here"/*.js .
exec node pages.test.js "$program" "$browser" "$here/../.."
