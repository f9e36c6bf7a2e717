#!/bin/sh
# Unpacks the sdist in FOLDER, and checks that it compiles and has no relative links.
# Usage: test-sdist.sh FOLDER TARGET      (TARGET: a cargo target folder, to reuse built dependencies)
set -eu

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
sdist=$(cd "$1" && pwd)/stillair-$version.tar.gz
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
tar -xzf "$sdist" -C "$away"
cd "$away/stillair-$version"

if grep -nE '\]\((docs|scripts|python|lab|CONTRIBUTING|LICENSE)' PKG-INFO; then
  echo "test-sdist: found relative links, which break on a package index" >&2
  exit 1
fi
grep -q '^Project-URL: Repository, https://' PKG-INFO
for file in LICENSE THIRD-PARTY-NOTICES.txt README.md scripts/pgo_training.py; do test -s "$file"; done
test -s python/stillair/scenarios/anomaly-udp.toml
test ! -e lab
CARGO_TARGET_DIR=$2 cargo check --quiet --locked --manifest-path crates/py/Cargo.toml
echo "$(basename "$sdist"): complete"
