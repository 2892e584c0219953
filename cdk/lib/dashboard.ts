import { Aws, Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget, ConcreteWidget, Dashboard, GraphWidget, type IAlarm, PeriodOverride, SingleValueWidget, Stats, TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { fleetMetric } from './health-alarms.ts';
import { NAMESPACE } from './props.ts';
import type { SweepFunction } from './sweep-function.ts';

/** What runs dry, how long is left, and whether the monitor can be believed: in that order. */
export class FleetDashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { readonly deployment: string; readonly alarms: readonly IAlarm[]; readonly sweep: SweepFunction },
  ) {
    super(scope, id);
    // Each unit publishes its own: what is counted adds up, and the worst is the smallest.
    const statistics: Record<string, string> = { MinTimeToExhaustion: Stats.MINIMUM, DataAge: Stats.MAXIMUM };
    const fleet = (name: string) => fleetMetric(name, props.deployment, statistics[name] ?? Stats.SUM);
    const search = (metric: string) =>
      `SEARCH('{${NAMESPACE},Kind,ResourceId} MetricName="${metric}"', 'Maximum', 60)`;
    const dashboard = new Dashboard(this, 'Dashboard', {
      dashboardName: `burstwatch-${props.deployment}`,
      defaultInterval: Duration.hours(8),
      periodOverride: PeriodOverride.INHERIT,
    });
    dashboard.addWidgets(
      new SingleValueWidget({
        title: 'Now', width: 24, height: 4,
        metrics: ['ResourcesExhausted', 'ResourcesCritical', 'ResourcesWarning', 'ResourcesUnknown', 'ResourcesSeen', 'MinTimeToExhaustion'].map(fleet),
      }),
    );
    dashboard.addWidgets(
      this.searchGraph('Time to exhaustion of the ten that are worst off (seconds)', `SORT(${search('TimeToExhaustion')}, MIN, ASC, 10)`),
      this.searchGraph('Severity (2 warning, 3 critical, 4 exhausted)', search('Severity')),
    );
    dashboard.addWidgets(
      this.searchGraph('Lowest burst balances (percent)', `SORT(SEARCH('{AWS/EBS,VolumeId} MetricName="BurstBalance"', 'Minimum', 300), MIN, ASC, 10)`),
      new GraphWidget({
        title: 'The monitor: data age and duration', width: 12, height: 6,
        left: [fleet('DataAge')], right: [props.sweep.function.metricDuration({ period: Duration.minutes(1) })],
      }),
    );
    dashboard.addWidgets(
      new AlarmStatusWidget({ title: 'Alarms of the deployment', width: 12, height: 6, alarms: [...props.alarms] }),
      new GraphWidget({
        title: 'The monitor: sweeps, problems, metrics requested', width: 12, height: 6,
        left: [fleet('SweepCompleted'), fleet('Problems'), fleet('UnitsFailed'), fleet('CallsThrottled')],
        right: [fleet('MetricsRequested')],
      }),
    );
    dashboard.addWidgets(
      new GraphWidget({
        title: 'Coverage: seen, asked at this sweep, unknown, without a balance of AWS', width: 12, height: 6,
        left: ['ResourcesSeen', 'ResourcesEvaluated', 'ResourcesUnknown', 'ResourcesUnpublished'].map(fleet),
      }),
      new GraphWidget({
        title: 'By their owners\' wish: left out, in maintenance', width: 12, height: 6,
        left: [fleet('ResourcesExcluded'), fleet('ResourcesInMaintenance')],
      }),
    );
    dashboard.addWidgets(
      new TextWidget({
        width: 24, height: 2,
        markdown: 'A volume is in an episode from leaving *ok* until it is back. *Unknown* means not watched: no data, a denied call, or a resize without a datapoint.',
      }),
    );
  }

  private searchGraph(title: string, expression: string) {
    return new SearchWidget({ title, width: 12, height: 6, expression });
  }
}

/** A graph of a SEARCH: CDK's own takes no expression without a metric in it. */
class SearchWidget extends ConcreteWidget {
  private readonly source: { readonly title: string; readonly expression: string };

  constructor(props: { readonly title: string; readonly width: number; readonly height: number; readonly expression: string }) {
    super(props.width, props.height);
    this.source = props;
  }

  toJson() {
    return [
      {
        type: 'metric', width: this.width, height: this.height, x: this.x, y: this.y,
        properties: {
          view: 'timeSeries', title: this.source.title, region: Aws.REGION,
          metrics: [[{ expression: this.source.expression, id: 'found' }]],
        },
      },
    ];
  }
}
