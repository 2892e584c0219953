import { Stack } from 'aws-cdk-lib';
import { CfnAlarm, CfnDashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnKey } from 'aws-cdk-lib/aws-kms';
import catalog from '../catalog.json' with { type: 'json' };
import { partsOf } from './parts.ts';
import type { ResolvedProps } from './props.ts';

interface Price {
  readonly usd: number;
  readonly per: string;
  readonly source: string;
}

/** List prices of us-east-1 in USD, read 2026-11. Other regions differ by some tens of per cent. */
export const PRICES = {
  alarmMetric: { usd: 0.1, per: 'alarm metric and month', source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  insightsAlarmMetric: { usd: 0.1, per: 'metric analysed and month', source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  dashboard: { usd: 3, per: 'dashboard and month, three are free', source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  customMetric: { usd: 0.3, per: 'custom metric and month', source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  key: { usd: 1, per: 'key and month', source: 'https://aws.amazon.com/kms/pricing/' },
  gigabyteSecond: { usd: 0.0000133334, per: 'GB-second on arm64', source: 'https://aws.amazon.com/lambda/pricing/' },
  putMetricData: { usd: 0.01e-3, per: 'request of PutMetricData, a million a month are free', source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  request: { usd: 0.2e-6, per: 'request', source: 'https://aws.amazon.com/lambda/pricing/' },
  queueRequest: { usd: 0.4e-6, per: 'request to a queue', source: 'https://aws.amazon.com/sqs/pricing/' },
} as const satisfies Record<string, Price>;

const SECONDS_PER_SWEEP = 2;
const MINUTES_PER_MONTH = 30 * 24 * 60;
/** A message is sent, received and deleted; and Lambda's five pollers each ask every 20 seconds. */
const REQUESTS_PER_MESSAGE = 3;
const POLLS_PER_MINUTE = 5 * 3;

/** What the deployment costs a month whatever the fleet, in words. Requests for metrics come on top. */
export function estimateFixedCost(stack: Stack, props: ResolvedProps): string {
  const resources = stack.node.findAll();
  const count = (type: new (...args: never[]) => unknown) => resources.filter((child) => child instanceof type).length;
  const parts = partsOf(props).length;
  const sweeps = (MINUTES_PER_MONTH / props.schedule.toMinutes()) * parts;
  // Each part has a heartbeat of its own, and where there is a budget says what it has spent.
  const ownMetrics = props.settings['budget_usd_per_month'] ? 2 : 1;
  const metrics = catalog.fleet_metrics.length + parts * ownMetrics;
  const lines: [string, number][] = [
    [`${count(CfnAlarm)} alarms`, count(CfnAlarm) * PRICES.alarmMetric.usd],
    [`${count(CfnDashboard)} dashboard`, count(CfnDashboard) * PRICES.dashboard.usd],
    [`${metrics} metrics`, metrics * PRICES.customMetric.usd],
    [`${count(CfnKey)} key`, count(CfnKey) * PRICES.key.usd],
    [
      `${sweeps} sweeps of about ${SECONDS_PER_SWEEP} s`,
      sweeps * (PRICES.request.usd + SECONDS_PER_SWEEP * (props.memoryMib / 1024) * PRICES.gigabyteSecond.usd),
    ],
    [`${sweeps * ownMetrics} requests of PutMetricData`, sweeps * ownMetrics * PRICES.putMetricData.usd],
  ];
  if (props.fanOut === 'queue') {
    const requests = sweeps * REQUESTS_PER_MESSAGE + MINUTES_PER_MONTH * POLLS_PER_MINUTE;
    lines.push([`${requests} requests to the queue`, requests * PRICES.queueRequest.usd]);
  }
  const total = lines.reduce((sum, [, usd]) => sum + usd, 0);
  const floor = props.floor
    ? ` The floor alarm is billed per volume: ${PRICES.insightsAlarmMetric.usd.toFixed(2)} USD a volume-month on top.`
    : '';
  const budget = props.settings['budget_usd_per_month'];
  const requests = budget
    ? ` Metric requests: at most ${budget} USD a month for each unit (budget_usd_per_month).`
    : ' Metric requests come on top: `burstwatch scan --cost` says how many; budget_usd_per_month limits them.';
  return (
    `burstwatch: about ${total.toFixed(2)} USD a month before free tiers and metric requests ` +
    `(${lines.map(([what, usd]) => `${what} ${usd.toFixed(2)}`).join(', ')}; us-east-1 list prices of 2026-11).${requests}${floor}`
  );
}
