{
  _config+:: {
    // What runbook_url begins with: the folder of your own runbooks.
    runbooksUrl: 'https://github.com/burstwatch/burstwatch/blob/main/monitoring/runbooks',
    // The address of your Grafana: with it every alert has a dashboard_url.
    grafanaUrl: '',
    // The matcher that selects the exporter in the metric `up`.
    jobSelector: 'job="burstwatch"',
    // Who exports: burstwatch, yace or ebs-csi. The last two know less (see the files in prometheus/).
    exporter: 'burstwatch',
    // Whether `burstwatch serve` watches a fleet beside it, and the matcher that selects it in the metric `up`.
    fleet: false,
    fleetJobSelector: 'job="burstwatch-fleet"',

    // The words that your routes know: what wakes somebody, and what does not. To change one: severities+: { critical: 'page' }.
    severities: { critical: 'critical', warning: 'warning' },
    // What the name of an alert and the title of a dashboard begin with. Routes and inhibit rules must follow
    // (prometheus/alertmanager.yml).
    alertPrefix: 'Burstwatch',
    dashboardPrefix: 'burstwatch / ',
    dashboardTags: ['burstwatch'],
    dashboardRefresh: '1m',

    // Seconds left from which a disk is critical, and from which it is a warning.
    diskCriticalWithin: 3600,
    diskWarningWithin: 6 * 3600,
    // The same for the CPU credits of a host.
    cpuWarningWithin: 2 * 3600,
    // The share of five minutes above a limit from which that is a warning.
    limitReachedFrom: 0.5,
  },
}
