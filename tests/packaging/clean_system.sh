#!/bin/sh
# Installs the package into an empty Debian or Ubuntu by the commands of the container's last stage, runs it there and
# removes it. The system is made by mmdebstrap, which asks the distribution's servers for a few packages.
# usage: clean_system.sh PACKAGE_FOLDER SOURCE_FOLDER WORK_FOLDER
set -eu

packages=$1
source=$2
work=$3
skip() { echo "skipped: $*"; exit 77; }
[ -d "$packages" ] || skip "no package was made"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
[ "$release" ] || skip "/etc/os-release names no release"

rm -rf "$work"
mkdir -p "$work"
cd "$work"
cp "$packages"/napkin_*.deb .
package=$(echo napkin_*.deb)

{
  echo 'set -eux'
  echo '[ ! -e /usr/bin/napkin ]'
  sh "$source/tests/packaging/last_stage.sh" "$source/scripts/Containerfile"
  cat <<'END'
cd /
napkin --version
napkin targets --quiet | grep -x h100-sxm5
napkin analyze /usr/share/napkin/examples/attention.nap --target h100-sxm5 | grep predicted
napkin derive /usr/share/napkin/examples/attention.nap >/dev/null
napkin explain E0204 >/dev/null
[ -e /usr/share/man/man1/napkin-analyze.1.gz ] || [ -e /usr/share/man/man1/napkin-analyze.1 ]
[ -z "$(dpkg --verify napkin)" ]
dpkg --purge napkin
[ ! -e /usr/bin/napkin ]
[ ! -e /usr/share/napkin ]
[ ! -e /usr/share/doc/napkin ]
END
} >check.sh

# The mark tells a system that could not be made from a package that does not work in it.
status=0
mmdebstrap --quiet --variant=apt --format=null \
  --customize-hook="touch '$work/made'" \
  --customize-hook="copy-in '$work/$package' '$work/check.sh' /tmp" \
  --customize-hook='chroot "$1" sh /tmp/check.sh >&2' "$release" /dev/null >log.txt 2>&1 || status=$?
[ -e made ] || skip "there is no clean system here: $(tail -n 1 log.txt)"
[ $status -eq 0 ] || { cat log.txt; echo "FAILED: the package in a clean system" >&2; exit 1; }
echo "$package was installed, run and removed in a clean $release"
