#!/usr/bin/env bash
# Builds a release and times its stages on every example. usage: scripts/bench.sh [TARGET...]
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages "${build_packages[@]}"
build_preset release
cmake --build --preset release --target napkin_bench
build/release/napkin_bench "$@"
