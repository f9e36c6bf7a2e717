#!/usr/bin/env bash
# Instructions per packet in each queueing discipline, by the difference of two lengths, so that what a start costs is not in it.
# Counted by the processor where perf may, else by callgrind.
# usage: qdisc-instructions.sh PROGRAM
set -euo pipefail
program=$1
short=20000 long=40000

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

printf '%-16s%9s%9s%9s  flows\n' instructions 1 100 10000
"$program" --list | while read -r name; do
  printf '%-16s' "$name"
  for flows in 1 100 10000; do
    few=$($count "$program" --once "$name" $flows $short)
    many=$($count "$program" --once "$name" $flows $long)
    printf '%9d' $(((many - few) / (long - short)))
  done
  echo
done
