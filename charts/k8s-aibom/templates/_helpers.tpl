{{/* The beginning of every name. The longest one, of a Service, has 35 characters more, and a
Service's name at most 63 and no dots. */}}
{{- define "k8s-aibom.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | replace "." "-" | trunc 28 | trimSuffix "-" -}}
{{- end -}}

{{- define "k8s-aibom.account" -}}
{{ include "k8s-aibom.fullname" . }}-controller-manager
{{- end -}}

{{/* What selects the manager's pods; never changes, as a Deployment's selector cannot. */}}
{{- define "k8s-aibom.selector" -}}
app.kubernetes.io/name: k8s-aibom
app.kubernetes.io/instance: {{ .Release.Name }}
control-plane: controller-manager
{{- end -}}

{{- define "k8s-aibom.labels" -}}
app.kubernetes.io/name: k8s-aibom
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* A digest says exactly which image; a tag can move. */}}
{{- define "k8s-aibom.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end -}}
{{- end -}}
