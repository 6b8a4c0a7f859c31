#!/usr/bin/env bash
# Runs one fuzz target on its corpus; what breaks a promise is kept in build/fuzz-findings/.
#   scripts/fuzz.sh fuzz/fuzz_http.cc 120        two minutes, other inputs each time
#   scripts/fuzz.sh fuzz/fuzz_http.cc --same     so many inputs, the same ones each time
set -uo pipefail
cd "$(dirname "$0")/.."
target=$(basename "${1:?which target: fuzz/fuzz_NAME.cc}" .cc) how=${2:-60} name=${1##*fuzz_}; name=${name%.cc}
log=build/fuzz-findings/$name.log new=build/fuzz-corpus/$name limits=(-max_total_time="$how") run=()
if [ "$how" = --same ]; then
  [ "$name" = server ] && inputs=3000 || inputs=20000  # a server is made for each
  new=build/fuzz-corpus-same/$name limits=(-seed=1 -runs=$inputs -max_total_time=120)
  rm -rf "$new"
  setarch -R true 2>/dev/null && run=(setarch -R)  # addresses are among what libFuzzer hears of
fi
mkdir -p build/fuzz-findings "$new"
# libFuzzer adds the inputs that it finds to the first folder and only reads the second.
if "${run[@]}" "build/dev/fuzz/$target" -max_len=4096 -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="build/fuzz-findings/$name-" "${limits[@]}" "$new" "fuzz/corpus/$name" >"$log" 2>&1; then
  echo "ok: $name, $(sed -n 's/.*number_of_executed_units: //p' "$log") inputs"
else
  cat "$log"
  echo "FAILED: $name"
  exit 1
fi
