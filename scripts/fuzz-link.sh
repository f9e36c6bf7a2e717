#!/bin/sh
# Fuzzes a link with sequences of calls for a given time.
# Usage: fuzz-link.sh PROGRAM SECONDS [SEED]      the default SEED is taken from the clock
set -eu

program=$1
seconds=$2
seed=${3:-$(date +%s)000}
next=$seed
end=$(($(date +%s) + seconds))

while [ "$(date +%s)" -lt "$end" ]; do
  timeout 300 "$program" "$next" 20 || {
    code=$?
    [ $code -ne 124 ] || echo "fuzz: one of the 20 seeds from $next on did not end within 300 s" >&2
    echo "replay: $program SEED 1" >&2
    exit 1
  }
  next=$((next + 20))
done
echo "fuzz link: $((next - seed)) cases from seed $seed on, nothing found"
