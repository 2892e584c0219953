// The rules and dashboards as a monitoring mixin: everything is in the YAML and JSON beside, this only puts it together.
(import 'config.libsonnet') {
  local config = self._config,
  local rules = {
    burstwatch: importstr 'prometheus/burstwatch.rules.yml',
    yace: importstr 'prometheus/from-yace.rules.yml',
    'ebs-csi': importstr 'prometheus/from-ebs-csi.rules.yml',
  },
  local alerts = [importstr 'prometheus/burstwatch.alerts.yml']
                 // With another exporter, the alerts about burstwatch-exporter would always fire.
                 + (if config.exporter == 'burstwatch' then [importstr 'prometheus/burstwatch-exporter.alerts.yml'] else [])
                 // Without `burstwatch serve`, the alert that it is absent would always fire.
                 + (if config.fleet then [importstr 'prometheus/burstwatch-fleet.alerts.yml'] else []),
  local replaced(text, pairs) = std.foldl(function(whole, pair) std.strReplace(whole, pair[0], pair[1]), pairs, text),
  local filled(text) = replaced(text, [
    ['https://github.com/burstwatch/burstwatch/blob/main/monitoring/runbooks', config.runbooksUrl],
    ['job="burstwatch"', config.jobSelector],
    ['job="burstwatch-fleet"', config.fleetJobSelector],
  ]),

  // A link opens on a phone only as a complete address, so there is none without Grafana's.
  local boards = {
    host: '/d/burstwatch-host?var-instance={{ $labels.instance }}&var-device={{ $labels.device }}&var-most=1000',
    fleet: '/d/burstwatch-fleet-prometheus?var-account_id={{ $labels.account_id }}&var-region={{ $labels.region }}',
  },
  local linked(rule) = if config.grafanaUrl == '' then rule else rule {
    annotations+: {
      dashboard_url: config.grafanaUrl + (if std.length(std.findSubstr('burstwatch_unit_', rule.expr) + std.findSubstr('burstwatch_resource_', rule.expr) + std.findSubstr('burstwatch-fleet', rule.expr)) > 0 then boards.fleet else boards.host),
    },
  },

  // The thresholds of the YAML by alert and severity, each with what stands in its place.
  local thresholds = {
    BurstwatchRunsDry: {
      critical: ['< 3600', '< %d' % config.diskCriticalWithin],
      warning: ['< 6 * 3600', '< %d' % config.diskWarningWithin],
    },
    BurstwatchCpuCreditsRunOut: { warning: ['< 2 * 3600', '< %d' % config.cpuWarningWithin] },
    BurstwatchLimitReached: { warning: ['> 0.5', '> %g' % config.limitReachedFrom] },
  },
  local configured(rule) =
    local severity = rule.labels.severity;
    local change = std.get(std.get(thresholds, rule.alert, {}), severity, ['', '']);
    linked(rule) {
      alert: config.alertPrefix + std.substr(rule.alert, std.length('Burstwatch'), std.length(rule.alert)),
      expr: if change[0] == '' then rule.expr else std.strReplace(rule.expr, change[0], change[1]),
      labels+: { severity: config.severities[severity] },
    },
  local titled(board) = board {
    title: config.dashboardPrefix + std.split(board.title, ' / ')[1],
    tags: config.dashboardTags,
    refresh: config.dashboardRefresh,
    annotations: { list: [one + (if 'expr' in one then { expr: std.strReplace(one.expr, 'Burstwatch', config.alertPrefix) } else {}) for one in board.annotations.list] },
    links: [link + (if link.type == 'dashboards' then { tags: config.dashboardTags } else {}) for link in board.links],
  },

  prometheusRules+:: std.parseYaml(rules[config.exporter]),
  prometheusAlerts+:: {
    groups: [
      group { rules: [configured(rule) for rule in group.rules] }
      for group in std.flatMap(function(text) std.parseYaml(filled(text)).groups, alerts)
    ],
  },
  grafanaDashboards+:: {
    'burstwatch-fleet.json': titled(import 'grafana/burstwatch-fleet.json'),
    'burstwatch-fleet-prometheus.json': titled(import 'grafana/burstwatch-fleet-prometheus.json'),
    'burstwatch-volume.json': titled(import 'grafana/burstwatch-volume.json'),
    'burstwatch-resource.json': titled(import 'grafana/burstwatch-resource.json'),
    'burstwatch-host.json': titled(import 'grafana/burstwatch-host.json'),
  },
}
