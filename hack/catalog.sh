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
  # What the image holds is known here, so that nothing has to be pulled.
  "$opm" render bundle --migrate-level bundle-object-to-csv-metadata -o yaml | sed "s#^image: \"\"#image: $image#"
} >"$catalog/catalog.yaml"
"$opm" validate "$out/configs"
