#!/usr/bin/env bash
# Writes bundle/ and bundle.Dockerfile from config/manifests into a folder. The result
# depends on the arguments and the tree only, so a second run changes nothing.
#
#   hack/bundle.sh OPERATOR_SDK KUBECTL OUT VERSION IMAGE CREATED_AT
set -euo pipefail

if [ $# -ne 6 ]; then
  sed -n '2,5p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 2
fi
sdk=$1 kubectl=$2 out=$3 version=$4 image=$5 created=$6
mkdir -p "$out"
out=$(cd "$out" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
cp "$root/PROJECT" "$fresh/"
cd "$fresh"

"$kubectl" kustomize "$root/config/manifests" | sed "s#controller:latest#$image#" |
  "$sdk" generate bundle --quiet --overwrite --version "$version" --package k8s-aibom \
    --channels stable,candidate --default-channel stable

csv=bundle/manifests/k8s-aibom.clusterserviceversion.yaml
# The base says how any 1.x upgrades; that is for the version that it is released as.
sed -i -e "s#^\( *createdAt: \).*#\1\"$created\"#" -e "s#'>=1.0.0 <[0-9.]*'#'>=1.0.0 <$version'#" "$csv"
# Says nothing, and is no valid time.
sed -i '/^  creationTimestamp: null$/d' bundle/manifests/*.yaml
# operator-sdk takes related images from the manager's environment only.
sed -i "s#^  replaces: #  relatedImages:\n  - image: $image\n    name: manager\n&#" "$csv"
cat >>bundle/metadata/annotations.yaml <<END

  # The versions of OpenShift that the bundle is for: Kubernetes 1.29 and newer.
  com.redhat.openshift.versions: v4.16
END
sed -i '/^LABEL operators.operatorframework.io.test.config/a\
\
# The versions of OpenShift that the bundle is for.\
LABEL com.redhat.openshift.versions=v4.16' bundle.Dockerfile

rm -rf "$out/bundle" "$out/bundle.Dockerfile"
cp -r bundle bundle.Dockerfile "$out/"
