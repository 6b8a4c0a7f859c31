#!/usr/bin/env bash
# Runs one fuzz target on its corpus for some seconds; what breaks a promise is kept in build/fuzz-findings/.
#   scripts/fuzz.sh fuzz/fuzz_http.cc [SECONDS]
set -uo pipefail
cd "$(dirname "$0")/.."
target=$(basename "${1:?which target: fuzz/fuzz_NAME.cc}" .cc) seconds=${2:-60} name=${1##*fuzz_}; name=${name%.cc}
mkdir -p "build/fuzz-findings" "build/fuzz-corpus/$name"
log=build/fuzz-findings/$name.log
# New inputs go to build/; the corpus that is kept in fuzz/corpus/ is only read.
if "build/dev/fuzz/$target" -max_total_time="$seconds" -max_len=4096 -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="build/fuzz-findings/$name-" "build/fuzz-corpus/$name" "fuzz/corpus/$name" >"$log" 2>&1; then
  echo "ok: $name, $(sed -n 's/.*number_of_executed_units: //p' "$log") inputs"
else
  cat "$log"
  echo "FAILED: $name"
  exit 1
fi
