#!/bin/sh
# Builds and runs a program with the model and packet crates but without Rust's standard library.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/no-std
cargo build --quiet --locked --manifest-path tests/no-std/Cargo.toml --target-dir "$target"
cc -Wall -Werror -o "$target/main" tests/no-std/main.c "$target/debug/libstillair_no_std.a"
"$target/main"
