#!/usr/bin/env bash
# Installs what is missing, builds the program and makes build/package/napkin_VERSION_ARCHITECTURE.deb of it.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_packages "${build_packages[@]}" dpkg-dev file
cmake --workflow --preset package
say "done: $(echo build/package/napkin_*.deb)"
