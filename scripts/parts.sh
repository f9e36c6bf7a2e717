#!/usr/bin/env bash
# Makes each target that is given, stops at the first that fails, and prints how long each took.
# Usage: parts.sh TARGET...      a target may have variables: "fuzz FUZZ_SECONDS=60"
set -euo pipefail

times=()
for target in "$@"; do
  begin=$SECONDS
  # A target and its variables are words without blanks.
  # shellcheck disable=SC2086
  "${MAKE:-make}" --no-print-directory $target
  times+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$target")")
done
echo "where the time went:"
printf '%s\n' "${times[@]}"
