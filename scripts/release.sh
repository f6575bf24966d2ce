#!/usr/bin/env bash
# Packs the sources as FOLDER/napkin-VERSION.tar.gz (build/ unless a folder is given): what git knows and does not
# ignore, or all files where there is no git, as they stand in the tree. The same tree gives the same bytes. A build of
# what is packed needs Debian's packages alone (see setup.sh), and no network.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

[[ $# -le 1 ]] || fail "usage: scripts/release.sh [FOLDER]"
folder=${1:-build}
version=$(sed -n 's/^project(napkin VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[[ $version ]] || fail "CMakeLists.txt has no version"
packed=(.ci .clang-format .clang-tidy .dockerignore .github .gitignore CMakeLists.txt CMakePresets.json LICENSE README.md
  bench cmake docs examples hardware_profiles include scripts src tests)

has_git() { [[ $(git rev-parse --show-toplevel 2>/dev/null) == "$PWD" ]]; }
# Their names, each ended by a zero byte.
files() {
  if has_git; then
    git ls-files -z --cached --others --exclude-standard -- "${packed[@]}"
  else
    find "${packed[@]}" -type f -print0
  fi
}
# Without what was deleted and git still knows, and what Python leaves where it runs.
wanted() {
  while IFS= read -r -d '' file; do
    [[ ! -e $file || $file == */__pycache__/* ]] || printf '%s\0' "$file"
  done
}
date_of_release() {
  if [[ ${SOURCE_DATE_EPOCH:-} ]]; then echo "$SOURCE_DATE_EPOCH"; elif has_git; then git log -1 --format=%ct; else echo 0; fi
}

if has_git && [[ $(git status --porcelain -- "${packed[@]}") ]]; then
  echo "note: the tree is not that of its last commit" >&2
fi
mkdir -p "$folder"
archive=$folder/napkin-$version.tar.gz
files | wanted | LC_ALL=C sort -z -u |
  tar --create --null --files-from=- --transform="s,^,napkin-$version/,S" --owner=0 --group=0 --numeric-owner \
    --mode='u+rw,go+r,go-w' --mtime="@$(date_of_release)" | gzip -9n >"$archive.new"
mv "$archive.new" "$archive"
say "done: $archive"
