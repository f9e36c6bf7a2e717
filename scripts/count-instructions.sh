# Sourced by the scripts that count instructions: `count` is the command that counts those of the program after it, by the processor
# where perf may, else by callgrind; where neither can, the script that sources this ends with a word on it.

by_perf() {
  perf stat -x, -e instructions:u "$@" 2>&1 >/dev/null | awk -F, '$1 ~ /^[0-9]+$/ { print $1 }'
}

by_callgrind() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | awk '/Collected :/ { print $NF }'
}

if command -v perf >/dev/null && [ -n "$(by_perf true)" ]; then
  count=by_perf
elif command -v valgrind >/dev/null; then
  count=by_callgrind
else
  echo "instructions not counted: neither perf that may count nor valgrind (apt-get install valgrind)"
  exit 0
fi
