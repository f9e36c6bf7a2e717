#!/bin/sh
# Packs stillair-link and the crates below it as they would be published, and tries them away from here with the test that docs/bad-wifi.md prints:
# it has to pass, and with a limit that no Wi-Fi keeps it has to fail.
# Usage: test-crate.sh TARGET      (TARGET: a folder of cargo's, so that dependencies are not built again)
set -eu

cd "$(dirname "$0")/.."
target=$(mkdir -p "$1" && cd "$1" && pwd)
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT

# The optional ones too: a lock file names them.
crates="stillair-ip stillair-model stillair-quinn stillair-scenario-derive stillair-sim stillair-link"
# shellcheck disable=SC2046
cargo package --quiet --locked --allow-dirty --no-verify --target-dir "$away/packed" $(printf -- '-p %s ' $crates) 2>"$away/said" \
  || { cat "$away/said" >&2; exit 1; }
for crate in $crates; do tar -xzf "$away/packed/package/$crate"-*.crate -C "$away"; done

# As long as no registry has them, a patch says where they are.
mkdir -p "$away/trial/tests" "$away/trial/src"
{
  printf '[package]\nname = "trial"\nversion = "0.0.0"\nedition = "2021"\n\n[dev-dependencies]\nstillair-link = "*"\n\n[patch.crates-io]\n'
  for crate in $crates; do printf '%s = { path = "%s" }\n' "$crate" "$(echo "$away/$crate"-*)"; done
  printf '\n[profile.dev]\nopt-level = 1\n'
} >"$away/trial/Cargo.toml"
: >"$away/trial/src/lib.rs"
cp Cargo.lock "$away/trial/"
sed -n '/^```rust$/,/^```$/{/^```/d;p}' docs/bad-wifi.md >"$away/trial/tests/wifi.rs"
lines=$(sed -n '/^fn/,/^}/p' "$away/trial/tests/wifi.rs" | wc -l)

trial() {
  (cd "$away/trial" && CARGO_TARGET_DIR=$target cargo test --quiet --test wifi) >"$away/said" 2>&1
}
trial || { cat "$away/said" >&2; exit 1; }
grep -q '< 30\.0' "$away/trial/tests/wifi.rs"
sed -i 's/< 30\.0/< 0.1/' "$away/trial/tests/wifi.rs"
if trial; then
  echo "test-crate: a 99th percentile below 0.1 ms, over Wi-Fi" >&2
  exit 1
fi
grep -q 'panicked at tests/wifi.rs' "$away/said" || { cat "$away/said" >&2; exit 1; }
echo "stillair-link: packed, and a test of $lines lines passes and fails with it"
