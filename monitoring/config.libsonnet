{
  _config+:: {
    // What runbook_url begins with: where you serve monitoring/runbooks.
    runbooksUrl: 'monitoring/runbooks',
    // Which `up` is the exporter's.
    jobSelector: 'job="burstwatch"',
    // Who exports: burstwatch, yace or ebs-csi. The last two know less (see the files in prometheus/).
    exporter: 'burstwatch',
  },
}
