# Sourced by the other scripts: what must be installed, and how a preset is built. Bash, strict mode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n== %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

build_packages=(g++ cmake ninja-build libcli11-dev nlohmann-json3-dev libfmt-dev libyaml-cpp-dev catch2)

# Installs those of the given Debian packages that are missing. Where there is no apt-get it only says what is
# needed and goes on: CMake stops with the exact names if something is not there.
need_packages() {
  if ! command -v apt-get dpkg-query >/dev/null; then
    say "no apt-get here: these must be installed (Debian's names): $*"
    return
  fi
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  say "installing ${missing[*]}"
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || fail "as root, please: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# Installs those of them that are missing and can be had; a machine without them says so in what it skips.
want_packages() {
  for package in "$@"; do
    command -v "${package/nodejs/node}" >/dev/null && continue
    (need_packages "$package") || say "$package is not to be had here"
  done
}

# Configures a preset of CMakePresets.json in build/PRESET; further arguments go to cmake.
configure_preset() {
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  say "building $1 in build/$1"
  cmake --preset "$@" >/dev/null
}

# Builds a configured preset; further arguments go to cmake.
build_preset() { cmake --build --preset "$@" -j "$(nproc)"; }
