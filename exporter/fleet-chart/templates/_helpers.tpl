{{- define "burstwatch.labels" -}}
app.kubernetes.io/name: burstwatch-fleet
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "burstwatch.selector" -}}
app.kubernetes.io/name: burstwatch-fleet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "burstwatch.name" -}}
{{ printf "%s-burstwatch-fleet" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "burstwatch.account" -}}
{{ .Values.serviceAccount.name | default (ternary (include "burstwatch.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "burstwatch.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
