#!/usr/bin/env bash
# Runs every line `$ command` of README's ```console blocks and writes what it prints below it. With --check the script
# only says where README.md differs from what the program prints.
# usage: scripts/update_readme.sh [--check] [PROGRAM]     PROGRAM is build/release/napkin if not given
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
source scripts/transcripts.sh

start_transcripts "$@"
fresh_document README.md >"$work/README.md"
keep "$work/README.md" README.md
