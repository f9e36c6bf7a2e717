#!/bin/sh
# Packages stillair-link and its dependencies as for publication, and runs the test from docs/bad-wifi.md with them outside the repository.
# The test must pass, and must fail with a limit that no Wi-Fi meets.
# Usage: test-crate.sh TARGET      (TARGET: a cargo target folder, to reuse built dependencies)
set -eu

cd "$(dirname "$0")/.."
target=$(mkdir -p "$1" && cd "$1" && pwd)
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT

# Including optional ones, because the lock file names them.
crates="stillair-ip stillair-model stillair-quinn stillair-scenario-derive stillair-sim stillair-link"
# shellcheck disable=SC2046
cargo package --quiet --locked --allow-dirty --no-verify --target-dir "$away/packed" $(printf -- '-p %s ' $crates) 2>"$away/said" \
  || { cat "$away/said" >&2; exit 1; }
for crate in $crates; do tar -xzf "$away/packed/package/$crate"-*.crate -C "$away"; done

# The crates are not in a registry, so patch in their paths.
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
  echo "test-crate: the test passed with a limit of 0.1 ms, expected a failure" >&2
  exit 1
fi
grep -q 'panicked at tests/wifi.rs' "$away/said" || { cat "$away/said" >&2; exit 1; }
echo "stillair-link: packaged; a test of $lines lines passes, and fails with an impossible limit"
