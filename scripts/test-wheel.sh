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
"$away/env/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[plot,parquet,pandas,polars]"
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
case $(python -m pip show --files stillair) in *THIRD-PARTY-NOTICES.txt*) ;; *) echo "test-wheel: no notices" >&2; exit 1 ;; esac

# What the README says to type, with the scenarios that are in the package, and the one script that is not.
cp -R "$package/scenarios" scenarios
mkdir results scripts
cp "$root/scripts/airtime_from_capture.py" scripts/
"$root/scripts/readme_commands.py" sh >readme.sh
sh readme.sh >readme.out
grep -q 'Table 1' readme.out
test -s seven.html && test -s ping.svg && test -s seven-run-0.pcapng && test -s scenario.schema.json
python - <<END
import json
runs = json.load(open("results/seven/result.json"))["runs"]
assert runs[0]["goodput_total_mbps"] > 10
END
"$root/scripts/readme_commands.py" python >readme.py
python readme.py >>readme.out
test -s second.pcapng && test -s anomaly.flent.gz
echo "$(basename "$wheel"): installed in a fresh environment, where every command of the README has run"
