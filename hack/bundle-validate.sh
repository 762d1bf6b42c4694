#!/usr/bin/env bash
# Holds the bundle to operator-sdk's validators and to every basic and OLM test of the
# scorecard, run by the program that a scorecard pod runs. Fails on errors, on warnings and
# suggestions that are not explained below, and on a test that does not pass.
#
#   hack/bundle-validate.sh OPERATOR_SDK SCORECARD_TEST [BUNDLE]
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '2,6p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 2
fi
sdk=$1 scorecard=$2
cd "$(dirname "$0")/.."
bundle=$(cd "${3:-bundle}" && pwd)
failed=0

# Warnings that are looked at and right to be there:
# - "Migrate the API(s) for events": the validator takes a permission on events in the group
#   events.k8s.io for a use of that group's v1beta1, removed in 1.25. Permissions have no
#   version; the manager writes events.k8s.io/v1.
# - the community validator says of itself that it moves to another program.
explained='Migrate the API\(s\) for events: \(\[(\\?"ClusterServiceVersion\.Spec\.InstallStrategy\.StrategySpec\.(Cluster)?Permissions\[[0-9]+\]\.Rules\[[0-9]+\]\\?"[] ]*)+\)|Community Operator bundle validator is deprecated'

# And suggestions of the scorecard:
# - "does not have status spec": it looks for a status in the examples. They are what a user
#   would create, and no user writes a status. test/olm holds the descriptors to the schema.
suggested='does not have status spec'

validate() {
  local output status=0 warnings
  output=$("$sdk" bundle validate "$bundle" --select-optional "$1" --optional-values=index-path=bundle.Dockerfile 2>&1) || status=$?
  warnings=$(grep -E 'level=(warning|error|fatal)' <<<"$output" | grep -vE "$explained" || true)
  if [ $status -ne 0 ] || [ -n "$warnings" ]; then
    printf '%s\n' "$output" >&2
    echo "bundle validate $1: FAILED" >&2
    failed=1
    return
  fi
  echo "bundle validate $1: passed"
}
validate suite=operatorframework
validate name=good-practices
validate name=community

# The program reads the bundle at /bundle: it gets a root of its own with the bundle in it, in
# a mount namespace that nobody else sees. That takes root, or a user namespace, or sudo.
isolate="unshare -m"
if [ "$(id -u)" != 0 ]; then
  isolate="unshare -r -m"
  $isolate true 2>/dev/null || isolate="sudo -n unshare -m"
fi
# Where no namespace may be made, as in some containers, the bundle is at /bundle for a moment,
# provided that nothing else is.
if ! $isolate sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null; then
  isolate=""
  { [ ! -e /bundle ] && cp -r "$bundle" /bundle; } ||
    { echo "the scorecard's tests need a mount namespace (unshare -m), or to write /bundle" >&2; exit 1; }
  trap "rm -rf /bundle" EXIT
fi
run_scorecard() {
  if [ -z "$isolate" ]; then
    "$scorecard" "$1"
    return
  fi
  # shellcheck disable=SC2016 # expanded by the inner shell
  $isolate sh -c 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/bundle /mnt/tmp && mount --bind "$2" /mnt/bundle &&
    cp "$1" /mnt/scorecard-test && exec chroot /mnt /scorecard-test "$3"' sh "$scorecard" "$bundle" "$1"
}
tests=$(sed -n 's/^    - \(basic-[a-z-]*\|olm-[a-z-]*\)$/\1/p' "$bundle/tests/scorecard/config.yaml" | sort -u)
[ "$(wc -w <<<"$tests")" -eq 6 ] || { echo "the scorecard's configuration names other tests than its six: $tests" >&2; exit 1; }
for test in $tests; do
  output=$(run_scorecard "$test" 2>&1) || true
  remarks=$(sed -n '/"suggestions": \[/,/\]/p' <<<"$output" | grep '^ *".*",\?$' | grep -v "$suggested" || true)
  if grep -q '"state": "pass"' <<<"$output" && [ -z "$remarks" ] && ! grep -qE '"state": "(fail|error)"|"errors"' <<<"$output"; then
    echo "scorecard $test: passed"
    continue
  fi
  printf '%s\n' "$output" >&2
  echo "scorecard $test: FAILED" >&2
  failed=1
done
exit $failed
