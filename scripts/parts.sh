#!/usr/bin/env bash
# Makes the given targets, stops at the first failure, and prints the time of each.
# Usage: parts.sh TARGET...      a target may have variables: "fuzz FUZZ_SECONDS=60"
set -euo pipefail

times=()
for target in "$@"; do
  begin=$SECONDS
  # Targets and variables contain no blanks.
  # shellcheck disable=SC2086
  "${MAKE:-make}" --no-print-directory $target
  times+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$target")")
done
echo "time per target:"
printf '%s\n' "${times[@]}"
