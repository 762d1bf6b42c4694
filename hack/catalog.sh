#!/usr/bin/env bash
# Writes a file-based catalog of the bundle in this checkout: a package with the channels
# stable and candidate. The result is validated.
#
#   hack/catalog.sh OPM OUT VERSION BUNDLE_IMAGE
set -euo pipefail

if [ $# -ne 4 ]; then
  sed -n '2,5p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 2
fi
opm=$1 out=$2 version=$3 image=$4
cd "$(dirname "$0")/.."
catalog="$out/configs/k8s-aibom"
rm -rf "$out/configs"
mkdir -p "$catalog"
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
{
  cat <<END
schema: olm.package
name: k8s-aibom
defaultChannel: stable
icon:
  mediatype: image/svg+xml
  base64data: $(base64 <config/manifests/icon.svg | tr -d '\n')
END
  for channel in stable candidate; do
    cat <<END
---
schema: olm.channel
package: k8s-aibom
name: $channel
entries:
- name: k8s-aibom.v$version
  skipRange: '>=1.0.0 <$version'
END
  done
  # What the image holds is known here, so that nothing has to be pulled. Who mirrors the
  # catalog needs the bundle as well.
  "$opm" render bundle -o yaml | sed -e "s#^image: \"\"#image: $image#" \
    -e "s#^relatedImages:#&\n- image: $image\n  name: \"\"#"
} >"$raw/catalog.yaml"
# Only what a catalog shows stays of a bundle that has an image.
"$opm" render "$raw" --migrate-level bundle-object-to-csv-metadata -o yaml >"$catalog/catalog.yaml"
"$opm" validate "$out/configs"
