#!/bin/sh
# Installs the wheel of a folder into a fresh environment, away from the source tree, and runs it there.
# Usage: test-wheel.sh WHEELS      (PYTHON names the interpreter, python3 unless said)
set -eu

python=${PYTHON:-python3}
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
wheel=$(cd "$1" && pwd)/$(cd "$1" && ls -t stillair-"$version"-*.whl | head -n 1)

away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
"$python" -m venv "$away/env"
"$away/env/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
cd "$away"
PATH=$away/env/bin:$PATH
unset PYTHONPATH

expect() {
  [ "$1" = "$2" ] || { echo "test-wheel: found \"$1\", expected \"$2\"" >&2; exit 1; }
}

expect "$(stillair --version)" "stillair $version"
package=$(python -c 'import pathlib, stillair; print(pathlib.Path(stillair.__file__).parent)')
case $package in "$away"/*) ;; *) echo "test-wheel: $package is not in the environment" >&2; exit 1 ;; esac

# All that the package in the source tree has besides what is built, scenarios included, as files and not as links.
listed() {
  (cd "$1" && find -L . -type f ! -name '*.so' ! -name '*.pyc' | LC_ALL=C sort)
}
listed "$root/python/stillair" >source
listed "$package" >installed
diff source installed >&2 || { echo "test-wheel: the wheel lacks files or has others" >&2; exit 1; }
expect "$(find "$package" -type l)" ""

stillair schema >scenario.schema.json
cmp scenario.schema.json "$package/schema/scenario.schema.json"
stillair run "$package/scenarios/anomaly-udp.toml" --set "duration=6 s" --json >run.json 2>run.err
python -c 'import json; assert json.load(open("run.json"))["runs"][0]["goodput_total_mbps"] > 10'
stillair paper ending-the-anomaly/table1 --runs 1 >table1.txt
grep -q 'Table 1' table1.txt
echo "$(basename "$wheel"): installed and run in a fresh environment"
