#!/usr/bin/env bash
# Installs what tests need, builds, runs every test; the last line is "N passed, N failed, N skipped".
#   scripts/test.sh                unit tests and fuzz targets (ASan, UBSan), threads (TSan), simulation, the platform
#                                  as a process with stock kubectl; TAU_FUZZ_SECONDS=30, TAU_CRASH_ROUNDS=50: the full proof
#   scripts/test.sh --kubernetes   the same plane on a real Kubernetes API server instead
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
mkdir -p build
passed=0 failed=0 skipped=0
result() { # NAME CODE
  if [ "$2" = 0 ]; then passed=$((passed + 1)); say "ok: $1"; else failed=$((failed + 1)); say "FAILED: $1"; fi
}
# Adds pytest's own counts.
count_pytest() { # FILE
  local line; line=$(tail -n 1 "$1")
  local n
  for n in passed failed skipped error; do
    local value; value=$(grep -oE "[0-9]+ $n" <<<"$line" | grep -oE '[0-9]+' || echo 0)
    case $n in passed) passed=$((passed + value));; failed|error) failed=$((failed + value));; skipped) skipped=$((skipped + value));; esac
  done
}
finish() { echo "$passed passed, $failed failed, $skipped skipped"; [ "$failed" = 0 ]; exit; }

need_packages tests
need_python_tools
say "building the release"
build release tau || { result "release build" 1; finish; }
export TAU="$PWD/build/release/src/cmd/tau" KUBECTL_136="$PWD/build/venv-1.36/bin/kubectl" KUBECTL_137="$PWD/build/venv-1.37/bin/kubectl"

if [ "${1:-}" = --kubernetes ]; then
  if ! tests/e2e/servers.sh build; then
    say "SKIPPED: a real Kubernetes API server cannot be had here (Go 1.26 or newer and the Go module proxy are needed)"
    skipped=$((skipped + 1))
    finish
  fi
  build/venv/bin/pytest -q tests/e2e 2>&1 | tee build/e2e.log
  count_pytest build/e2e.log
  finish
fi

say "building the tests (ASan, UBSan)"
build dev || { result "dev build" 1; finish; }
say "unit tests"
ctest --test-dir build/dev --output-on-failure -j2 2>&1 | tee build/ctest.log | grep -E 'Test +#|tests passed|FAILED|Failure' >&2
units=$(grep -cE 'Test +#.*Passed' build/ctest.log); broken=$(grep -cE 'Test +#.*(Failed|Exception|Timeout|Not Run)' build/ctest.log)
passed=$((passed + units)) failed=$((failed + broken))
[ "$broken" = 0 ] || tail -n 60 build/ctest.log >&2
say "fuzzing: $(ls fuzz/fuzz_*.cc | wc -l) targets, two at a time"
# The same inputs on every machine, so that what passed once passes again; TAU_FUZZ_SECONDS=60 tries new ones.
ls fuzz/fuzz_*.cc | xargs -P2 -I{} scripts/fuzz.sh {} "${TAU_FUZZ_SECONDS:---same}" >build/fuzz.log 2>&1
while read -r word name; do
  if [ "$word" = ok: ]; then result "fuzz $name" 0; elif [ "$word" = FAILED: ]; then result "fuzz $name" 1; fi
done < <(grep -E '^(ok|FAILED): ' build/fuzz.log)
[ "$(grep -cE '^(ok|FAILED): ' build/fuzz.log)" = "$(ls fuzz/fuzz_*.cc | wc -l)" ] || result "every fuzz target ran" 1
grep -q '^FAILED: ' build/fuzz.log && grep -vE '^(ok|#|INFO)' build/fuzz.log | tail -n 60 >&2
say "threads of host under TSan"
build tsan host_test && build/tsan/src/host/host_test --gtest_brief=1 >build/tsan.log 2>&1; code=$?
[ $code = 0 ] || tail -n 60 build/tsan.log >&2
result "host under TSan" $code
say "whole-platform simulation"
# Two halves at once: a seed is one thread.
"$TAU" simulate --seed 1..50 >build/simulate-a.log 2>&1 & half=$!
"$TAU" simulate --seed 51..100 >build/simulate-b.log 2>&1; code=$?
wait $half || code=1
tail -qn 1 build/simulate-a.log build/simulate-b.log >&2
[ $code = 0 ] || grep -hv ': ok$' build/simulate-a.log build/simulate-b.log | head -40 >&2
result "simulation of 100 seeds" $code
say "the platform as a process, with stock kubectl"
build/venv/bin/pytest -q tests/embedded 2>&1 | tee build/embedded.log
count_pytest build/embedded.log
finish
