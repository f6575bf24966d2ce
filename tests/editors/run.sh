#!/usr/bin/env bash
# Colours every example as Visual Studio Code does, and starts its extension against stand-ins: run.sh SOURCE BUILD.
# Needs node, and two packages that npm installs below BUILD; exit code 77 (skipped) where they cannot be had.
set -euo pipefail
skip() { printf 'skipped: %s\n' "$*"; exit 77; }

command -v node npm >/dev/null || skip "node and npm are not installed"
place=$2/editors
mkdir -p "$place"
if ! cmp -s "$1/tests/editors/package.json" "$place/package.json" || [[ ! -d $place/node_modules ]]; then
  rm -rf "$place/node_modules"
  cp "$1/tests/editors/package.json" "$place/package.json"
  timeout 120 npm install --prefix "$place" --no-audit --no-fund --no-package-lock --silent >/dev/null 2>&1 ||
    { rm -f "$place/package.json"; skip "npm cannot install vscode-textmate and vscode-oniguruma"; }
fi
node "$1/tests/editors/colours.js" "$1" "$place/node_modules"
node "$1/tests/editors/extension.js" "$1"
