#!/usr/bin/env bash
# A real Neovim, without a screen, as a client of `napkin lsp`: neovim.sh PROGRAM SOURCE. Exit code 77 (skipped) where it is
# not installed.
set -euo pipefail
command -v nvim >/dev/null || { echo 'skipped: nvim is not installed'; exit 77; }
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_CONFIG_HOME=$home XDG_DATA_HOME=$home XDG_STATE_HOME=$home XDG_CACHE_HOME=$home
PROGRAM=$1 SOURCE=$2 FOLDER=$home timeout 120 nvim --headless --clean -c "luafile $2/tests/editors/neovim.lua" 2>&1
