#!/usr/bin/env bash
# Runs every fuzz target of the project for a while, one after the other. An input that
# fails stays in the package's testdata/fuzz and fails the ordinary tests from then on.
#
#   hack/fuzz.sh [DURATION]     for example 30s or 5m; default 10s
set -euo pipefail

duration=${1:-10s}
cd "$(dirname "$0")/.."

targets=$(grep -rHoE --include="*_test.go" '^func Fuzz[A-Za-z0-9_]+' api cmd internal test || true)
if [ -z "$targets" ]; then
  echo "there is no fuzz target" >&2
  exit 1
fi

while IFS=: read -r file function; do
  name=${function#func }
  printf '\n%s in %s, %s\n' "$name" "$(dirname "$file")" "$duration"
  # Go would spend up to a minute on making each new input smaller, and try no other meanwhile.
  go test -short -run '^$' -fuzz "^$name\$" -fuzztime "$duration" -fuzzminimizetime 20x "./$(dirname "$file")"
done <<<"$targets"
