#!/usr/bin/env bash
# Builds one pinned tool from a nested Go module under hack/ and prints the path of
# the program on standard output; progress goes to standard error.
#
#   hack/build-tool.sh MODULE PACKAGE [NAME] [go build flags...]
#
# MODULE is a folder under hack/ with its own go.mod and go.sum, PACKAGE the main
# package to build, NAME what to call the program (default: last path element).
# The result is cached under ${XDG_CACHE_HOME:-~/.cache}/k8s-aibom by the hash of the
# module's go.mod and go.sum, the flags and the Go version, so that a second checkout
# reuses it.
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '2,11p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 2
fi

hack=$(cd "$(dirname "$0")" && pwd)
module=$1
package=$2
name=${3:-$(basename "$package")}
shift $(($# < 3 ? $# : 3))

# The tool runs on this machine, whatever the caller builds for and with.
export GOWORK=off CGO_ENABLED=0
cd "$hack/$module"
{ read -r GOOS; read -r GOARCH; read -r goversion; } < <(go env GOHOSTOS GOHOSTARCH GOVERSION)
export GOOS GOARCH
key=$({ cat go.mod go.sum; printf '%s\n' "$goversion" "$GOOS" "$GOARCH"; printf '%s\n' "$package" "$@"; } | git hash-object --stdin | cut -c1-16)
dir="${XDG_CACHE_HOME:-$HOME/.cache}/k8s-aibom/tools/$module-$key"
if [ -x "$dir/$name" ]; then
  printf '%s\n' "$dir/$name"
  exit 0
fi

started=$SECONDS
printf '%s: building from hack/%s (once per machine, then cached in %s)\n' "$name" "$module" "$dir" >&2
mkdir -p "$dir"
part="$dir/.$name.$$"
build=""
trap '[ -z "$build" ] || kill "$build" 2>/dev/null || true; rm -f "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

go build -mod=readonly -trimpath "$@" -o "$part" "$package" >&2 &
build=$!
# A line a quarter of a minute tells a waiting reader that the build is alive.
told=$SECONDS
while kill -0 "$build" 2>/dev/null; do
  sleep 1
  if [ $((SECONDS - told)) -ge 15 ]; then
    printf '%s: still building, %ds\n' "$name" $((SECONDS - started)) >&2
    told=$SECONDS
  fi
done
if ! wait "$build"; then
  build=""
  printf '%s: the build failed after %ds\n' "$name" $((SECONDS - started)) >&2
  exit 1
fi
build=""

# Renamed when complete: a second build at the same time does no harm.
mv -f "$part" "$dir/$name"
printf '%s: built in %ds\n' "$name" $((SECONDS - started)) >&2
printf '%s\n' "$dir/$name"
