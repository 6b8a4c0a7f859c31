#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over the C++ sources that differ from main, or over those named.
#   tools/clang_tidy.sh [FILE...]        needs build/dev configured and its precompiled header built
set -uo pipefail
cd "$(dirname "$0")/.."
[ -f build/dev/compile_commands.json ] || { echo "error: no build/dev: cmake --preset dev && ninja -C build/dev tau_pch_anchor" >&2; exit 1; }
files=("$@")
if [ ${#files[@]} = 0 ]; then
  mapfile -t files < <({ git diff --name-only main; git ls-files --others --exclude-standard; } | grep -E '^(src|fuzz)/.*\.cc$' | sort -u)
fi
[ ${#files[@]} -gt 0 ] || { echo "no C++ sources differ from main"; exit 0; }
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 nice clang-tidy-19 -p build/dev --quiet --warnings-as-errors='*' \
  2> >(grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed |^Use -header-filter' >&2)
