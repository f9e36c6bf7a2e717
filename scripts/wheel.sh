#!/usr/bin/env bash
# Builds the wheel with PGO, which saves about a fifth of the instructions per segment (docs/stages.md): an instrumented wheel, a run of
# scripts/pgo_training.py, and the optimised wheel. Without the compiler's llvm-profdata, prints a warning and builds a plain wheel.
# Usage: wheel.sh MATURIN FOLDER [no]      `no`: a plain wheel, in a third of the time
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
  echo "warning: building the wheel without PGO (slower runs): llvm-profdata not found; install it with: rustup component add llvm-tools" >&2
fi
"$maturin" build "${profile[@]}" --release --locked --quiet --out "$folder"
