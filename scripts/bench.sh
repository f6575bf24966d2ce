#!/usr/bin/env bash
# Builds a release and times its stages on every example and its gradient. usage: scripts/bench.sh [TARGET...]
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages "${build_packages[@]}"
configure_preset release
build_preset release --target napkin_bench
build/release/napkin_bench "$@"
