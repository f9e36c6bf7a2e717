#!/usr/bin/env bash
# Instructions per ACK for each congestion control, from the difference of two lengths, which excludes start-up costs.
# usage: cc-instructions.sh PROGRAM
set -euo pipefail
program=$1
short=100000 long=200000
. "$(dirname "$0")/count-instructions.sh"

printf '%-12s%9s\n' instructions "per ACK"
"$program" --list | while read -r name; do
  few=$($count "$program" --once "$name" $short)
  many=$($count "$program" --once "$name" $long)
  printf '%-12s%9d\n' "$name" $(((many - few) / (long - short)))
done
