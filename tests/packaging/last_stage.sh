#!/bin/sh
# Prints what the last stage of a container file runs, a command a line.
# usage: last_stage.sh CONTAINERFILE
set -eu
sed -e '/^#/d' -e ':again' -e '/\\$/ { N; s/\\\n */ /; t again' -e '}' "$1" |
  awk '/^FROM / { commands = "" } /^RUN / { commands = commands substr($0, 5) "\n" } END { printf "%s", commands }'
