#!/usr/bin/env bash
# Instructions per packet from callgrind, independent of the machine and its load.
# usage: instructions.sh BENCH [--set KEY=VALUE]... SCENARIO...
set -euo pipefail
bench=$1
shift
if ! command -v valgrind >/dev/null; then
  echo "instructions not counted: valgrind not found (apt-get install valgrind)"
  exit 0
fi
mkdir -p build
sets=()
while [ "${1-}" = --set ]; do
  sets+=("$1" "$2")
  shift 2
done
for scenario; do
  valgrind --tool=callgrind --callgrind-out-file=build/callgrind.out "$bench" --once "${sets[@]}" "$scenario" \
    >build/callgrind.txt 2>build/callgrind.log || { tail -5 build/callgrind.log >&2; exit 1; }
  awk -v scenario="$scenario" '
    FNR == NR { if (/Collected :/) instructions = $NF; next }
    $1 == scenario { printf "%s: %.0f instructions per packet offered, %.0f per packet delivered",
                     scenario, instructions / $2, instructions / $3
                     if ($4 > 0) printf ", %.0f per TCP segment delivered", instructions / $4
                     printf "\n" }
  ' build/callgrind.log build/callgrind.txt
done
