#!/usr/bin/env bash
# Writes the parts of the Helm chart that follow from config/ into a folder that holds the
# chart: the CRDs, the manager's role, the roles for people, the alerts and the dashboard.
#
#   hack/chart.sh [CHART]     default: charts/k8s-aibom
set -euo pipefail

cd "$(dirname "$0")/.."
chart=${1:-charts/k8s-aibom}
mkdir -p "$chart"/{crds,files,templates}

for crd in config/crd/bases/*.yaml; do
  cp "$crd" "$chart/crds/"
done
cp config/monitoring/prometheusrule.yaml config/monitoring/dashboard.json "$chart/files/"

labels='\n  labels:\n    {{- include "k8s-aibom.labels" . | nindent 4 }}'
name='{{ include "k8s-aibom.fullname" . }}'
{
  echo "# From config/rbac/role.yaml by make chart; do not edit."
  sed -e '/^---$/d' -e "s#^  name: manager-role#  name: $name-manager-role$labels#" config/rbac/role.yaml
} >"$chart/templates/manager-role.yaml"
{
  echo "# From config/rbac by make chart; do not edit."
  echo '{{- if .Values.rbac.userRoles }}'
  separator=""
  for role in aibom_viewer aibom_editor aibomcontrollerconfig_viewer aibomcontrollerconfig_editor; do
    printf '%s' "$separator"
    separator=$'---\n'
    sed -e 's#^    app.kubernetes.io/name: k8s-aibom$#    {{- include "k8s-aibom.labels" . | nindent 4 }}#' \
      -e "s#^  name: \(.*-role\)#  name: $name-\1#" "config/rbac/${role}_role.yaml"
  done
  echo '{{- end }}'
} >"$chart/templates/user-roles.yaml"
