#!/bin/sh
# Looks for scenarios that break the reader or the world, and for traces, IP packets and messages of the kernel that break theirs, for a given
# time each. Those of the kernel are another program's, fuzz_netlink beside this one.
# Usage: fuzz.sh PROGRAM SECONDS [SEED]      SEED, where to begin, is taken from the clock unless given
set -eu

seconds=$2
seed=${3:-$(date +%s)000}

# One batch that does not end is a failure too: it hangs.
patience=300

# Nor may one take memory without end, which a large machine would let pass.
ulimit -v 4000000 2>/dev/null || echo "fuzz: memory is not limited here" >&2

for kind in reader traces packets netlink world; do
  program=$1
  case $kind in
    reader) batch=2000; files=$(find scenarios crates/sim/tests/scenario/good.toml -name '*.toml' | LC_ALL=C sort) ;;
    traces) batch=2000; files=$(find crates/sim/tests/traces -type f | LC_ALL=C sort) ;;
    packets) batch=2000; files= ;;
    netlink) batch=20000; files=; program=$(dirname "$1")/fuzz_netlink ;;
    world) batch=20; files= ;;
  esac
  # There is little in a message: each case takes microseconds.
  case $kind in netlink) share=6 ;; *) share=1 ;; esac
  next=$seed
  end=$(($(date +%s) + seconds / share))
  while [ "$(date +%s)" -lt "$end" ]; do
    # File names of the repository have no spaces.
    # shellcheck disable=SC2086
    timeout $patience "$program" $kind "$next" $batch $files || {
      code=$?
      [ $code -ne 124 ] || echo "fuzz $kind: one of the $batch seeds from $next on does not end in $patience s" >&2
      echo "replay: $program $kind SEED 1" $files >&2
      exit 1
    }
    next=$((next + batch))
  done
  echo "fuzz $kind: $((next - seed)) cases from seed $seed on, nothing found"
done
