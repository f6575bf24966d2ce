# Sourced by the scripts that keep transcripts of documents: runs every line `$ command` of their ```console blocks.
# A block that begins with ```nap NAME is written into the file NAME first, as a reader of the document would do.

# Takes --check and the program from the command line, and makes the folder in which commands run.
start_transcripts() {
  check=
  [[ ${1:-} == --check ]] && { check=yes; shift; }
  program=$(realpath "${1:-build/release/napkin}")
  [[ -x $program ]] || fail "$program is not there: build it first, or name the program"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/bin"
  ln -s "$program" "$work/bin/napkin"
  export PATH=$work/bin:$PATH
  # The commands run in a copy of what a reader has, so that what they write is not left in the tree.
  mkdir "$work/tree"
  cp -r examples hardware_profiles "$work/tree"
}

# Prints a document with every transcript as it comes out now.
fresh_document() {
  local block='' file='' line
  while IFS= read -r line; do
    if [[ $block == console && $line != '```' ]]; then
      [[ $line == '$ '* ]] || continue
      printf '%s\n' "$line"
      (cd "$work/tree" && bash -c "${line#'$ '}" 2>&1) </dev/null || true
      continue
    fi
    [[ $block == file && $line != '```' ]] && printf '%s\n' "$line" >>"$work/tree/$file"
    case $line in
      '```console') block=console ;;
      '```nap '*) block=file file=${line#'```nap '}; : >"$work/tree/$file" ;;
      '```') block= ;;
    esac
    printf '%s\n' "$line"
  done <"$1"
}

# Writes a file as it comes out now over the one in the tree, or says with --check that they differ.
keep() {
  local fresh=$1 kept=$2
  if [[ ! $check ]]; then
    mkdir -p "$(dirname "$kept")"
    cmp -s "$fresh" "$kept" || cp "$fresh" "$kept"
  elif [[ ! -e $kept ]] || ! cmp -s "$fresh" "$kept"; then
    [[ $kept != *.md || ! -e $kept ]] || diff -u "$kept" "$fresh" || true
    fail "$kept is not what the program prints: run scripts/$(basename "$0")"
  fi
}
