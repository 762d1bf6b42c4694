#!/usr/bin/env bash
# Compares the generated files of the tree with what controller-gen and hack/chart.sh write
# now. It works in a temporary folder, so the tree is not changed and need not be under
# version control.
#
#   hack/verify-generated.sh CONTROLLER_GEN
set -euo pipefail

if [ $# -ne 1 ]; then
  sed -n '2,6p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 2
fi
controller_gen=$1
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

"$controller_gen" object:headerFile=hack/boilerplate.go.txt paths=./api/... output:object:dir="$fresh/api"
"$controller_gen" crd paths=./api/... output:crd:dir="$fresh/crd"
"$controller_gen" rbac:roleName=manager-role,headerFile=hack/rbac-header.yaml paths=./internal/... output:rbac:dir="$fresh/rbac"

stale=0
compare() { diff -ruN "$1" "$2" || stale=1; }
compare api/v1beta1/zz_generated.deepcopy.go "$fresh/api/zz_generated.deepcopy.go"
compare config/crd/bases "$fresh/crd"
compare config/rbac/role.yaml "$fresh/rbac/role.yaml"

cp -r charts/k8s-aibom "$fresh/chart"
hack/chart.sh "$fresh/chart"
compare charts/k8s-aibom "$fresh/chart"

if [ "$stale" = 1 ]; then
  echo "generated files are out of date: run make generate manifests chart" >&2
  exit 1
fi
