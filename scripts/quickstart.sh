#!/usr/bin/env bash
# Installs what is missing, builds a release and analyses attention on an H100.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages "${build_packages[@]}"
configure_preset release
build_preset release --target napkin
say "napkin analyze examples/attention.nap --target h100-sxm5"
build/release/napkin analyze examples/attention.nap --target h100-sxm5
say "done: the program is build/release/napkin"
