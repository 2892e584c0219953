import { Aws, Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Color,
  ConcreteWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
  MathExpression,
  type Metric,
  PeriodOverride,
  SingleValueWidget,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { fleetMetric } from './health-alarms.ts';
import { NAMESPACE, dashboardName } from './props.ts';
import type { Sweeps } from './sweeps.ts';

/** Each unit publishes its own: what is counted adds up, and the worst is the smallest. */
const STATISTICS: Record<string, string> = { MinTimeToExhaustion: Stats.MINIMUM, DataAge: Stats.MAXIMUM };
const WORST = 10;
const MINUTE_S = 60;
/** The numbers that are seen first, in words, with their metrics, and by what these are divided. */
const TILES: readonly [string, string, number?][] = [
  ['Out of credits', 'ResourcesExhausted'],
  ['Paging', 'ResourcesCritical'],
  ['Warnings', 'ResourcesWarning'],
  ['Least time left (minutes)', 'MinTimeToExhaustion', MINUTE_S],
  ['Unknown', 'ResourcesUnknown'],
];
/** As many as CloudWatch shows in one. */
const ALARMS_OF_A_WIDGET = 100;

/** What runs out, how long is left, and whether the monitor can be believed: in the order of the Grafana dashboard. */
export class FleetDashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { readonly deployment: string; readonly alarms: readonly IAlarm[]; readonly sweeps: Sweeps },
  ) {
    super(scope, id);
    const fleet = (name: string, options: { color?: string; label?: string } = {}): Metric =>
      fleetMetric(name, props.deployment, STATISTICS[name] ?? Stats.SUM).with(options);
    const search = (metric: string, statistic: string) =>
      `SEARCH('{${NAMESPACE},Deployment,Kind,ResourceId} Deployment="${props.deployment}" MetricName="${metric}"', '${statistic}', 60)`;
    // Each unit, or shard of one, has a heartbeat of its own.
    const sweeps = `SUM(SEARCH('{${NAMESPACE},Deployment,Unit} Deployment="${props.deployment}" MetricName="SweepCompleted"', 'Sum', 60))`;
    const left = `SORT(${search('TimeToExhaustion', 'Average')}, MIN, ASC, ${WORST}) / ${MINUTE_S}`;
    // A SEARCH sorts the first 500 that it finds; this sorts 10,000.
    const lowest = `SELECT MIN(BurstBalance) FROM SCHEMA("AWS/EBS", VolumeId) GROUP BY VolumeId ORDER BY MIN() ASC LIMIT ${WORST}`;
    const dashboard = new Dashboard(this, 'Dashboard', {
      dashboardName: dashboardName(this, props.deployment),
      defaultInterval: Duration.hours(8),
      periodOverride: PeriodOverride.INHERIT,
    });
    const row = (title: string, ...widgets: IWidget[]) => {
      dashboard.addWidgets(new TextWidget({ width: 24, height: 1, markdown: `## ${title}` }));
      dashboard.addWidgets(...widgets);
    };

    row(
      'Now',
      ...TILES.map(
        ([title, name, by]) =>
          new SingleValueWidget({
            title,
            width: 4,
            height: 3,
            metrics: [by ? divided(fleet(name), by, ' ') : fleet(name, { label: ' ' })],
          }),
      ),
      new SearchWidget({
        title: 'Sweeps completed a minute',
        view: 'singleValue',
        expression: sweeps,
        label: ' ',
        width: 4,
        height: 3,
      }),
    );
    dashboard.addWidgets(
      ...pieces(props.alarms, ALARMS_OF_A_WIDGET).map(
        (alarms) =>
          new AlarmStatusWidget({ title: 'Alarms of the deployment', width: 24, height: 4, alarms: [...alarms] }),
      ),
    );
    row(
      'Worst first',
      new SearchWidget({
        title: 'Least time left (minutes)',
        view: 'table',
        expression: left,
        label: "${PROP('Dim.ResourceId')}",
      }),
      new SearchWidget({ title: 'Lowest balances (percent)', view: 'table', expression: lowest, period: 300 }),
    );
    row(
      'History',
      new SearchWidget({
        title: `Time left of the ${WORST} worst (minutes)`,
        view: 'timeSeries',
        expression: left,
        label: "${PROP('Dim.ResourceId')}",
      }),
      new GraphWidget({
        title: 'Resources in danger',
        width: 12,
        height: 6,
        stacked: true,
        left: [
          fleet('ResourcesExhausted', { color: Color.PURPLE }),
          fleet('ResourcesCritical', { color: Color.RED }),
          fleet('ResourcesWarning', { color: Color.ORANGE }),
        ],
      }),
      new SearchWidget({
        title: 'Severity (2 warning, 3 critical, 4 empty)',
        view: 'timeSeries',
        expression: search('Severity', 'Maximum'),
        label: "${PROP('Dim.ResourceId')}",
        width: 24,
      }),
    );
    row(
      'Monitor health',
      new GraphWidget({
        title: 'Resources that were looked at, and that could not be judged',
        width: 12,
        height: 6,
        left: ['ResourcesSeen', 'ResourcesUnknown'].map((name) => fleet(name)),
      }),
      new GraphWidget({
        title: 'Age of the newest data (minutes), and how long a sweep takes (seconds, on the right)',
        width: 12,
        height: 6,
        left: [divided(fleet('DataAge'), MINUTE_S, 'Age')],
        right: props.sweeps.sweepers.map((sweeper, shard) =>
          divided(
            sweeper.function.metricDuration({ period: Duration.minutes(1) }),
            1000,
            `Sweep ${shard + 1}`,
            `ms${shard}`,
          ),
        ),
      }),
      new GraphWidget({
        title: 'Problems',
        width: 12,
        height: 6,
        left: ['Problems', 'UnitsFailed', 'CallsThrottled', 'MetricsRefused'].map((name) => fleet(name)),
      }),
      new GraphWidget({
        title: 'Metrics requested, which AWS bills',
        width: 12,
        height: 6,
        left: [fleet('MetricsRequested')],
      }),
    );
    dashboard.addWidgets(
      new TextWidget({
        width: 24,
        height: 2,
        markdown:
          'An episode of a resource lasts from its first alarm until its last alarm ends. *Unknown* means not watched: no data, a denied call, or no datapoint yet after a resize.',
      }),
    );
  }
}

/** In another unit: CloudWatch shows the unit of a metric, and nobody counts hours in seconds. */
function divided(metric: IMetric, by: number, label: string, id = 'm'): MathExpression {
  return new MathExpression({
    expression: `${id} / ${by}`,
    usingMetrics: { [id]: metric },
    label,
    period: Duration.minutes(1),
  });
}

function pieces<T>(all: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, number) =>
    all.slice(number * size, (number + 1) * size),
  );
}

interface SearchProps {
  readonly title: string;
  readonly expression: string;
  /** Of a query of Metrics Insights it is what that groups by. */
  readonly label?: string;
  readonly view: 'singleValue' | 'table' | 'timeSeries';
  readonly period?: number;
  readonly width?: number;
  readonly height?: number;
}

/** What a SEARCH or a query of Metrics Insights finds: CDK's own widgets take no expression without a metric in it. */
class SearchWidget extends ConcreteWidget {
  private readonly source: SearchProps;

  constructor(props: SearchProps) {
    super(props.width ?? 12, props.height ?? 6);
    this.source = props;
  }

  toJson() {
    const { title, view, expression, label, period } = this.source;
    return [
      {
        type: 'metric',
        width: this.width,
        height: this.height,
        x: this.x,
        y: this.y,
        properties: { view, title, region: Aws.REGION, metrics: [[{ expression, label, period, id: 'found' }]] },
      },
    ];
  }
}
