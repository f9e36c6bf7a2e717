#!/usr/bin/env bash
# Builds the benchmark plain, with PGO, with target-cpu=native, and with both, and counts the instructions of each build.
# The profile comes from typical scenarios, not from the measured ones. All builds must give the same trace hashes.
# usage: pgo.sh BENCH...
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
if [ ! -x "$profdata" ]; then
  echo "missing: llvm-profdata; install it with: rustup component add llvm-tools" >&2
  exit 1
fi
at=$(realpath -m "${CARGO_TARGET_DIR:-target}/pgo")
trained=(home cafe office anomaly-tcp-both upload ath9k-mcs)
mkdir -p "$at"
rm -rf "$at/profile" && mkdir "$at/profile"

# build NAME FLAGS
build() {
  # An explicit target keeps build scripts and macros out of the profile.
  CARGO_TARGET_DIR=$at/$1 RUSTFLAGS="$2" cargo build --release --locked --quiet --target "$host" -p stillair-sim --example bench
}

build plain ""
build trained "-Cprofile-generate=$at/profile"
for name in "${trained[@]}"; do
  file=scenarios/$name.toml
  [ -e "$file" ] || file=scenarios/examples/$name.toml
  "$at/trained/$host/release/examples/bench" --once --set 'duration=6 s' --set 'warm_up=1 s' "$file" >/dev/null
done
"$profdata" merge -o "$at/merged.profdata" "$at/profile"
build profiled "-Cprofile-use=$at/merged.profdata"
build native "-Ctarget-cpu=native"
build both "-Cprofile-use=$at/merged.profdata -Ctarget-cpu=native"
for kind in plain profiled native both; do
  echo "$kind"
  for scenario; do
    hash=$("$at/$kind/$host/release/examples/bench" --json "$scenario" 0 | sed -n 's/.*"trace_hash": *"\([0-9a-f]*\)".*/\1/p')
    same=$("$at/plain/$host/release/examples/bench" --json "$scenario" 0 | sed -n 's/.*"trace_hash": *"\([0-9a-f]*\)".*/\1/p')
    [ -n "$hash" ] && [ "$hash" = "$same" ] || { echo "$scenario: found trace hash $hash, expected $same as in the plain build" >&2; exit 1; }
  done
  # Valgrind may not support all instructions of this processor.
  scripts/instructions.sh "$at/$kind/$host/release/examples/bench" "$@" || echo "$kind: instructions not counted"
  "$at/$kind/$host/release/examples/bench" "$@"
done
