#!/bin/sh
# Fuzzes the scenario reader, the world, and the readers of traces, IP packets and netlink messages, for a given time each. Netlink messages
# use fuzz_netlink, in the same folder as PROGRAM.
# Usage: fuzz.sh PROGRAM SECONDS [SEED]      the default SEED is taken from the clock
set -eu

seconds=$2
seed=${3:-$(date +%s)000}

# A batch that takes longer than this hangs, which is a failure.
patience=300

# Limit memory, so that unbounded growth fails on large machines too.
ulimit -v 4000000 2>/dev/null || echo "fuzz: cannot limit memory here" >&2

for kind in reader traces packets netlink world; do
  program=$1
  case $kind in
    reader) batch=2000; files=$(find scenarios crates/sim/tests/scenario/good.toml -name '*.toml' | LC_ALL=C sort) ;;
    traces) batch=2000; files=$(find crates/sim/tests/traces -type f | LC_ALL=C sort) ;;
    packets) batch=2000; files= ;;
    netlink) batch=20000; files=; program=$(dirname "$1")/fuzz_netlink ;;
    world) batch=20; files= ;;
  esac
  # Messages are small: each case takes microseconds.
  case $kind in netlink) share=6 ;; *) share=1 ;; esac
  next=$seed
  end=$(($(date +%s) + seconds / share))
  while [ "$(date +%s)" -lt "$end" ]; do
    # File names in the repository have no spaces.
    # shellcheck disable=SC2086
    timeout $patience "$program" $kind "$next" $batch $files || {
      code=$?
      [ $code -ne 124 ] || echo "fuzz $kind: one of the $batch seeds from $next on did not end within $patience s" >&2
      echo "replay: $program $kind SEED 1" $files >&2
      exit 1
    }
    next=$((next + batch))
  done
  echo "fuzz $kind: $((next - seed)) cases from seed $seed on, nothing found"
done
