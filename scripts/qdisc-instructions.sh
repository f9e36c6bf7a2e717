#!/usr/bin/env bash
# Instructions per packet for each qdisc, from the difference of two lengths, which excludes start-up costs.
# usage: qdisc-instructions.sh PROGRAM
set -euo pipefail
program=$1
short=20000 long=40000
. "$(dirname "$0")/count-instructions.sh"

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
