{
  _config+:: {
    // What runbook_url begins with: the folder of your own runbooks.
    runbooksUrl: 'https://github.com/burstwatch/burstwatch/blob/main/monitoring/runbooks',
    // The address of your Grafana: with it every alert has a dashboard_url.
    grafanaUrl: '',
    // Which `up` is the exporter's.
    jobSelector: 'job="burstwatch"',
    // Who exports: burstwatch, yace or ebs-csi. The last two know less (see the files in prometheus/).
    exporter: 'burstwatch',
  },
}
