// The rules and dashboards as a monitoring mixin: everything is in the YAML and JSON beside, this only puts it together.
(import 'config.libsonnet') {
  local config = self._config,
  local rules = {
    burstwatch: importstr 'prometheus/burstwatch.rules.yml',
    yace: importstr 'prometheus/from-yace.rules.yml',
    'ebs-csi': importstr 'prometheus/from-ebs-csi.rules.yml',
  },
  local alerts = [importstr 'prometheus/burstwatch.alerts.yml']
                 // What tells of the exporter itself would tell of one that is not there.
                 + (if config.exporter == 'burstwatch' then [importstr 'prometheus/burstwatch-exporter.alerts.yml'] else []),
  local filled(text) = std.strReplace(
    std.strReplace(text, 'https://github.com/burstwatch/burstwatch/blob/main/monitoring/runbooks', config.runbooksUrl),
    'job="burstwatch"',
    config.jobSelector
  ),

  // A link opens on a phone only as a complete address, so there is none without Grafana's.
  local linked(rule) = if config.grafanaUrl == '' then rule else rule {
    annotations+: {
      dashboard_url: config.grafanaUrl + '/d/burstwatch-host?var-instance={{ $labels.instance }}&var-device={{ $labels.device }}',
    },
  },

  prometheusRules+:: std.parseYaml(rules[config.exporter]),
  prometheusAlerts+:: {
    groups: [
      group { rules: [linked(rule) for rule in group.rules] }
      for group in std.flatMap(function(text) std.parseYaml(filled(text)).groups, alerts)
    ],
  },
  grafanaDashboards+:: {
    'burstwatch-fleet.json': import 'grafana/burstwatch-fleet.json',
    'burstwatch-volume.json': import 'grafana/burstwatch-volume.json',
    'burstwatch-host.json': import 'grafana/burstwatch-host.json',
  },
}
