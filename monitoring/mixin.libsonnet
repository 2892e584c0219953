// The rules and dashboards as a monitoring mixin: everything is in the YAML and JSON beside, this only puts it together.
(import 'config.libsonnet') {
  local config = self._config,
  local rules = {
    burstwatch: importstr 'prometheus/burstwatch.rules.yml',
    yace: importstr 'prometheus/from-yace.rules.yml',
    'ebs-csi': importstr 'prometheus/from-ebs-csi.rules.yml',
  },
  local alerts = std.strReplace(
    std.strReplace(importstr 'prometheus/burstwatch.alerts.yml', 'monitoring/runbooks', config.runbooksUrl),
    'job="burstwatch"',
    config.jobSelector
  ),
  // What tells of the exporter itself says nothing where there is none.
  local isOfExporter(group) = group.name == 'burstwatch.exporter',

  prometheusRules+:: std.parseYaml(rules[config.exporter]),
  prometheusAlerts+:: {
    groups: [
      group
      for group in std.parseYaml(alerts).groups
      if config.exporter == 'burstwatch' || !isOfExporter(group)
    ],
  },
  grafanaDashboards+:: {
    'burstwatch-fleet.json': import 'grafana/burstwatch-fleet.json',
    'burstwatch-volume.json': import 'grafana/burstwatch-volume.json',
    'burstwatch-host.json': import 'grafana/burstwatch-host.json',
  },
}
