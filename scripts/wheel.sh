#!/usr/bin/env bash
# Builds the wheel with a profile, which saves about a fifth of the instructions of a segment (docs/stages.md): a wheel that counts, what
# scripts/pgo_training.py runs with it, and the wheel that uses the counts. Without the compiler's llvm-profdata it says so and builds a plain one.
# Usage: wheel.sh MATURIN FOLDER [no]      with `no` a plain one, which takes a third of the time
set -euo pipefail
cd "$(dirname "$0")/.."
maturin=$1 folder=$2
if [ "${3:-yes}" = no ]; then
  exec "$maturin" build --release --locked --quiet --out "$folder"
fi
profdata=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata
if [ ! -x "$profdata" ] && command -v rustup >/dev/null; then
  timeout 120 rustup component add llvm-tools >/dev/null 2>&1 || true
fi
profile=(--pgo)
if [ ! -x "$profdata" ]; then
  profile=()
  echo "the wheel is built without a profile, so runs take longer: there is no llvm-profdata; install it with: rustup component add llvm-tools" >&2
fi
"$maturin" build "${profile[@]}" --release --locked --quiet --out "$folder"
