#!/usr/bin/env bash
# Provides what a cluster with the Operator Lifecycle Manager needs beside the control plane
# of hack/controlplane.sh, built from source at pinned versions, and prints the folder that
# holds it on standard output; progress goes to standard error.
#
#   kube-scheduler   binds pods to nodes
#   kwok             makes nodes and pods look ready without a kubelet; kwok.yaml says when
#   olm, catalog     OLM's two operators; crds/ holds their CRDs
#   opm              makes and serves catalogs
#   helm             installs charts
#   monitoring/      the Prometheus operator's CRDs for alerts and monitors
set -euo pipefail

hack=$(cd "$(dirname "$0")" && pwd)
started=$SECONDS
say() { printf 'olm: %s\n' "$*" >&2; }

key=$(cat "$0" "$hack"/{kubernetes,kwok,olm,helm,prometheus-operator}/go.{mod,sum} | git hash-object --stdin | cut -c1-16)
bin="${XDG_CACHE_HOME:-$HOME/.cache}/k8s-aibom/olm-$key"
mkdir -p "$bin"

# provide PROGRAM MODULE PACKAGE FLAGS...: links the program into the folder.
provide() {
  local name=$1 module=$2 package=$3 path
  shift 3
  [ ! -x "$bin/$name" ] || return 0
  path=$("$hack/build-tool.sh" "$module" "$package" "$name" "$@")
  ln -sf "$path" "$bin/$name"
}
# source MODULE PATH: the folder of a module's source.
source_of() { (cd "$hack/$1" && GOWORK=off go mod download "$2" && GOWORK=off go list -m -f '{{.Dir}}' "$2"); }

tags=containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper
operators=github.com/operator-framework
provide kube-scheduler kubernetes k8s.io/kubernetes/cmd/kube-scheduler -ldflags "-s -w"
provide kwok kwok sigs.k8s.io/kwok/cmd/kwok -ldflags "-s -w"
provide olm olm $operators/operator-lifecycle-manager/cmd/olm -tags $tags -ldflags "-s -w"
provide catalog olm $operators/operator-lifecycle-manager/cmd/catalog -tags $tags -ldflags "-s -w"
provide opm olm $operators/operator-registry/cmd/opm -tags $tags -ldflags "-s -w"
provide helm helm helm.sh/helm/v4/cmd/helm -ldflags "-s -w"

if [ ! -s "$bin/kwok.yaml" ]; then
  stages=$(source_of kwok sigs.k8s.io/kwok)/kustomize/stage
  for file in "$stages"/node/fast/*.yaml "$stages"/node/heartbeat-with-lease/*.yaml "$stages"/pod/fast/*.yaml; do
    case $file in */kustomization.yaml) ;; *) printf -- '---\n'; cat "$file" ;; esac
  done >"$bin/kwok.yaml.$$"
  mv -f "$bin/kwok.yaml.$$" "$bin/kwok.yaml"
fi
if [ ! -d "$bin/crds" ]; then
  crds=$(source_of olm $operators/operator-lifecycle-manager)/deploy/chart/crds
  mkdir -p "$bin/crds.$$"
  cp "$crds"/*.yaml "$bin/crds.$$/"
  chmod -R u+w "$bin/crds.$$"
  mv -T "$bin/crds.$$" "$bin/crds" 2>/dev/null || rm -rf "$bin/crds.$$"
fi
if [ ! -d "$bin/monitoring" ]; then
  crds=$(source_of prometheus-operator github.com/prometheus-operator/prometheus-operator)/example/prometheus-operator-crd
  mkdir -p "$bin/monitoring.$$"
  cp "$crds"/monitoring.coreos.com_{prometheusrules,servicemonitors}.yaml "$bin/monitoring.$$/"
  chmod -R u+w "$bin/monitoring.$$"
  mv -T "$bin/monitoring.$$" "$bin/monitoring" 2>/dev/null || rm -rf "$bin/monitoring.$$"
fi
say "ready after $((SECONDS - started))s: $bin"
printf '%s\n' "$bin"
