#!/bin/sh
# Makes the package for Debian of what is built, looks at what it has, and runs its program from an empty folder.
# usage: debian.sh BUILD_FOLDER SOURCE_FOLDER WORK_FOLDER CPACK
set -eu

build=$1
source=$2
work=$3
cpack=$4
rm -rf "$work"
for tool in dpkg-deb dpkg-shlibdeps file; do
  command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
says() { printf '%s\n' "$1" | grep -q -- "$2" || { printf '%s\n' "$1"; fail "nothing says: $2"; }; }

mkdir -p "$work"
cd "$work"
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$work/made" >cpack.txt 2>&1 || { cat cpack.txt; fail "cpack"; }
mv made/napkin_*.deb .
package=$(echo napkin_*.deb)

# What it is called and what it needs.
version=$("$build/napkin" --version | sed 's/napkin //')
[ "$package" = "napkin_${version}_$(dpkg --print-architecture).deb" ] || fail "its name is $package"
depends=$(dpkg-deb -f "$package" Depends)
for library in libc6 libstdc++6 libfmt libyaml-cpp; do says "$depends" "$library"; done

# What it has: everything that a person or the program looks for, and nothing of the library.
listed=$(dpkg-deb -c "$package" | awk '{ print $6 }')
for path in bin/napkin share/bash-completion/completions/napkin share/zsh/vendor-completions/_napkin \
  share/fish/vendor_completions.d/napkin.fish share/doc/napkin/copyright share/doc/napkin/changelog.gz \
  share/napkin/examples/attention.nap \
  share/napkin/docs/editors/vscode/package.json share/napkin/gate.sh; do
  says "$listed" "^./usr/$path$"
done
for page in $("$build/napkin" man --quiet); do says "$listed" "^./usr/share/man/man1/$page.1"; done
for profile in "$source"/hardware_profiles/*.yaml; do
  says "$listed" "^./usr/share/napkin/hardware_profiles/${profile##*/}$"
done
printf '%s\n' "$listed" | grep -E '/include/|\.a$|/cmake/|site-functions' && fail "it has parts of the library"
dpkg-deb -c "$package" | grep -vE '^[^ ]+ root/root ' && fail "not all of it is root's"

# Who maintains it, here and in its changelog, which the tools of Debian can read.
dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/share/doc/napkin/changelog.gz | gzip -dc >changelog
maintainer=$(dpkg-deb -f "$package" Maintainer)
says "$(tail -n 1 changelog)" "^ -- $maintainer  "
says "$(head -n 1 changelog)" "^napkin ($version) "
[ "$(dpkg-parsechangelog -l changelog -S Version)" = "$version" ] || fail "its changelog has another version"

# It runs from an empty folder, and reads the profiles there, which are one more.
dpkg-deb -x "$package" root
data=$work/root/usr/share/napkin
sed 's/^name: two-level$/name: only-here/' "$data/hardware_profiles/two-level.yaml" >"$data/hardware_profiles/only-here.yaml"
run() { (cd root && env -i PATH=/usr/bin:/bin HOME=/nonexistent "$work/root/usr/bin/napkin" "$@"); }
says "$(run targets --quiet)" '^only-here$'
says "$(run analyze "$data/examples/attention.nap" --target h100-sxm5)" 'predicted'
says "$(run draw "$data/examples/attention.nap" --format svg)" '<svg'

# The pages are as their readers want them. A page has no date: the version says how old it is.
for page in root/usr/share/man/man1/*; do
  plain=$(basename "$page" .gz)
  case $page in *.gz) gzip -dc "$page" >"$plain" ;; *) cp "$page" "$plain" ;; esac
  if command -v mandoc >/dev/null; then
    said=$(mandoc -T lint -W warning "$plain" | grep -v 'missing date' || true)
    [ -z "$said" ] || fail "$said"
  fi
  if command -v groff >/dev/null; then
    said=$(groff -man -ww -b -z -K utf8 "$plain" 2>&1)
    [ -z "$said" ] || fail "$said"
  fi
  if man --warnings -l "$plain" >read.txt 2>warnings.txt; then
    [ ! -s warnings.txt ] || fail "$(cat warnings.txt)"
    says "$(cat read.txt)" SYNOPSIS
  fi
done
command -v mandoc >/dev/null || command -v groff >/dev/null || echo "neither mandoc nor groff has read the pages"

if command -v bash >/dev/null; then
  completed=$(bash -c '. root/usr/share/bash-completion/completions/napkin; COMP_WORDS=(napkin anal); COMP_CWORD=1
    _napkin; echo "${COMPREPLY[*]}"')
  [ "$completed" = analyze ] || fail "bash completes anal to $completed"
fi
echo "$package is whole"
