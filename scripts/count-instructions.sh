# Sourced by scripts that count instructions. Sets `count` to a command that counts the instructions of a program: by perf if it may
# use hardware counters, else by callgrind. Without either, exits with a message.

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
  echo "instructions not counted: neither usable perf nor valgrind (apt-get install valgrind)"
  exit 0
fi
