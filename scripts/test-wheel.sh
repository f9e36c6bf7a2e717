#!/bin/sh
# Installs the wheel in WHEELS into a fresh environment outside the source tree, and tests it there, without and with the lab's wheel.
# Usage: test-wheel.sh WHEELS      (PYTHON: the interpreter, default python3)
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

# Files of a package except build products. Includes scenarios, and follows links.
listed() {
  (cd "$1" && find -L . -type f ! -name '*.so' ! -name '*.pyc' | LC_ALL=C sort)
}
listed "$root/python/stillair" >source
listed "$package" >installed
diff source installed >&2 || { echo "test-wheel: the files of the wheel differ from the source tree" >&2; exit 1; }
expect "$(find "$package" -type l)" ""

# Papers and validation are in a separate package.
python -m zipfile -l "$wheel" >members
if grep -E 'stillair_lab|/(papers|validate)/|(claims|runs|comparison)\.json|first-runs' members >&2; then
  echo "test-wheel: the wheel contains files of papers, validation or stored results" >&2
  exit 1
fi
for command in paper validate; do
  stillair --help | grep -q "^  $command "
  stillair "$command" 2>said && { echo "test-wheel: $command runs without stillair-lab" >&2; exit 1; }
  expect "$(grep -c 'pip install stillair-lab' said) of $(wc -l <said)" "1 of 1"
done
python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir lab "$root/lab"
python -m pip install --quiet --disable-pip-version-check lab/stillair_lab-"$version"-py3-none-any.whl
(cd "$root/lab/src" && find stillair_lab -type f ! -name '*.pyc' | LC_ALL=C sort) >source
(cd "$(dirname "$package")" && find stillair_lab -type f ! -name '*.pyc' | LC_ALL=C sort) >installed
diff source installed >&2 || { echo "test-wheel: the files of the lab's wheel differ from the source tree" >&2; exit 1; }

stillair schema >scenario.schema.json
cmp scenario.schema.json "$package/schema/scenario.schema.json"
case $(python -m pip show --files stillair) in *THIRD-PARTY-NOTICES.txt*) ;; *) echo "test-wheel: the wheel lacks THIRD-PARTY-NOTICES.txt" >&2; exit 1 ;; esac

# A build with PGO must give the same runs as the plain build, which `make test` has tested.
cat >hashes.py <<END
import stillair
for name in ("home", "anomaly-tcp", "hidden", "tsq-wired", "bquic-page", "mesh", "classroom"):
    run = stillair.Scenario(name).run(overrides={"duration": "7 s", "warm_up": "1 s"}, jobs=1).runs[0]
    print(name, run["trace_hash"])
END
python hashes.py >hashes
if [ -e "$root/build/stamps/native" ]; then
  "$root/.venv/bin/python" hashes.py >plain
  diff plain hashes >&2 || { echo "test-wheel: trace hashes differ from the build in the source tree" >&2; exit 1; }
else
  echo "test-wheel: trace hashes not compared: no build in the source tree (make build/stamps/native)" >&2
fi

# The README's commands, with the packaged scenarios and the one script outside the package.
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
echo "$(basename "$wheel"): installed in a fresh environment; all README commands ran"
