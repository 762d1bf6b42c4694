#!/usr/bin/env bash
# Provides etcd, kube-apiserver, kubectl and kube-controller-manager and prints the
# folder that holds them on standard output; progress goes to standard error.
#
# Each program is taken from the first place that has it:
#   1. $KUBEBUILDER_ASSETS
#   2. the cache that an earlier run filled (shared by every checkout on the machine)
#   3. setup-envtest's download (it has no kube-controller-manager)
#   4. a build from source, pinned by hack/kubernetes and hack/etcd
#
# K8S_AIBOM_NO_DOWNLOAD=1 skips step 3.
set -euo pipefail

hack=$(cd "$(dirname "$0")" && pwd)
programs="etcd kube-apiserver kubectl kube-controller-manager"
minor=1.37
version=v1.37.2
started=$SECONDS
say() { printf 'control plane: %s\n' "$*" >&2; }

key=$(cat "$hack"/kubernetes/go.{mod,sum} "$hack"/etcd/go.{mod,sum} | git hash-object --stdin | cut -c1-16)
# A folder per origin: programs that the user brought never enter the shared cache.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/k8s-aibom"
bin="$cache/controlplane-$key"
if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  KUBEBUILDER_ASSETS=$(cd "$KUBEBUILDER_ASSETS" && pwd)
  bin="$cache/controlplane-$key-$(printf '%s' "$KUBEBUILDER_ASSETS" | git hash-object --stdin | cut -c1-8)"
fi
mkdir -p "$bin"

missing() {
  local p
  for p in $programs; do [ -x "$bin/$p" ] || printf '%s ' "$p"; done
}
# take_from FOLDER PROGRAM...: links those of the programs that the folder has.
take_from() {
  local from=$1 p
  shift
  for p in "$@"; do
    if [ -x "$from/$p" ]; then
      ln -sf "$from/$p" "$bin/$p"
      say "$p from $from"
    fi
  done
}
build() {
  local path
  case $1 in
    etcd) path=$("$hack/build-tool.sh" etcd go.etcd.io/etcd/server/v3 etcd -ldflags "-s -w") ;;
    *) path=$("$hack/build-tool.sh" kubernetes "k8s.io/kubernetes/cmd/$1" "$1" -ldflags "-s -w \
-X k8s.io/component-base/version.gitVersion=$version \
-X k8s.io/component-base/version.gitMajor=${minor%.*} \
-X k8s.io/component-base/version.gitMinor=${minor#*.}") ;;
  esac
  ln -sf "$path" "$bin/$1"
}

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  # shellcheck disable=SC2086 # a list of words
  take_from "$KUBEBUILDER_ASSETS" $programs
  # shellcheck disable=SC2046
  take_from "$cache/controlplane-$key" $(missing)
fi
if [ -n "$(missing)" ] && [ "${K8S_AIBOM_NO_DOWNLOAD:-}" != 1 ]; then
  say "still needed: $(missing)"
  if [ "$(missing)" != "kube-controller-manager " ]; then
    say "trying setup-envtest's download of $minor"
    setup=$("$hack/build-tool.sh" tools sigs.k8s.io/controller-runtime/tools/setup-envtest)
    if assets=$("$setup" use -p path --bin-dir "$cache/envtest" "$minor.x!" 2>"$bin/download.log"); then
      # shellcheck disable=SC2046
      take_from "$assets" $(missing)
    else
      say "the download is not reachable ($(tail -n 1 "$bin/download.log" | cut -c1-160))"
    fi
  fi
fi
if [ -n "$(missing)" ]; then
  say "building from source, about 6 minutes on two cores: $(missing)"
  for p in $(missing); do build "$p"; done
fi
say "ready after $((SECONDS - started))s: $bin"
printf '%s\n' "$bin"
