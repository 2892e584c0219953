import { Stack } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };
import { partsOf } from './parts.ts';
import { MEMORY_MIB, type ResolvedProps } from './props.ts';

type Item = keyof typeof catalog.prices;
const FREE: Readonly<Partial<Record<Item, number>>> = catalog.free;
const { log_kib_per_sweep: LOG_KIB_PER_SWEEP, seconds_per_sweep: SECONDS_PER_SWEEP } = catalog.bill;
const MINUTES_PER_MONTH = 30 * 24 * 60;
/** A message is sent, received and deleted; and Lambda's five pollers each ask every 20 seconds. */
const REQUESTS_PER_MESSAGE = 3;
const POLLS_PER_MINUTE = 5 * 3;

/** A line of the bill: its name, as in `burstwatch scan --cost`, how much in words, and USD a month before and after the free tier. */
export interface Line {
  readonly name: string;
  readonly what: string;
  readonly usd: number;
  readonly paidUsd: number;
}

/** A line with the quantity of each item that AWS charges for. */
function line(name: string, what: string, quantities: Partial<Record<Item, number>>): Line {
  const items = Object.entries(quantities) as [Item, number][];
  const usd = items.reduce((sum, [item, quantity]) => sum + quantity * catalog.prices[item].value, 0);
  const paidUsd = items.reduce(
    (sum, [item, quantity]) => sum + Math.max(0, quantity - (FREE[item] ?? 0)) * catalog.prices[item].value,
    0,
  );
  return { name, what, usd, paidUsd };
}

/** What a deployment below `scope` costs a month whatever the fleet. Requests for metrics come on top. */
export function fixedLines(scope: Construct, props: ResolvedProps): Line[] {
  const stack = Stack.of(scope);
  const resources = scope.node.findAll();
  const count = (type: new (...args: never[]) => unknown) => resources.filter((child) => child instanceof type).length;
  const parts = partsOf(props).length;
  const periods = MINUTES_PER_MONTH / props.schedule.toMinutes();
  const sweeps = periods * parts;
  const finds = props.organization.length > 0 ? periods : 0;
  // Each part has a heartbeat of its own, and where there is a budget says what it has spent.
  const ownMetrics = props.settings['budget_usd_per_month'] ? 2 : 1;
  const metrics = catalog.fleet_metrics.length + parts * ownMetrics + (finds ? catalog.found_metrics.length : 0);
  const alarms = resources.filter((child) => child instanceof CfnAlarm);
  const alarmMetrics = alarms.reduce((sum, alarm) => sum + metricsOf(stack.resolve(alarm.metrics)), 0);
  // Its heartbeat, what it has spent, and which alarms there are.
  const calls = sweeps * (ownMetrics + 1);
  const logs = ((sweeps + finds) * LOG_KIB_PER_SWEEP) / 1024 ** 2;
  const gigabyteSeconds = ((sweeps * props.memoryMib + finds * MEMORY_MIB) * SECONDS_PER_SWEEP) / 1024;
  const found = finds ? ` and ${finds} searches for accounts` : '';
  const lines = [
    line('alarms', `${alarms.length} alarms on ${alarmMetrics} metrics`, { alarm_metric: alarmMetrics }),
    ...(props.dashboard ? [line('dashboards', '1 dashboard', { dashboard: 1 })] : []),
    line('fleet metrics', `${metrics} metrics`, { custom_metric: metrics }),
    line('keys', `${count(CfnKey)} key`, { key: count(CfnKey) }),
    line('sweeps', `${sweeps} sweeps${found} of about ${SECONDS_PER_SWEEP} s`, {
      lambda_request: sweeps + finds,
      lambda_gigabyte_second: gigabyteSeconds,
    }),
    line('calls', `${calls} requests of PutMetricData and DescribeAlarms`, { metrics_call: calls }),
    line('GB of logs', `${logs.toFixed(1)} GB of logs`, { log_gigabyte: logs }),
  ];
  if (props.fanOut === 'queue') {
    const requests = sweeps * REQUESTS_PER_MESSAGE + MINUTES_PER_MONTH * POLLS_PER_MINUTE;
    lines.push(line('queue', `${requests} requests to the queue`, { queue_request: requests }));
  }
  return lines;
}

/** What each account and region that is found adds a month, at list prices: its sweeps, their calls, logs and messages. */
export function usdOfFoundUnit(props: ResolvedProps): number {
  const sweeps = MINUTES_PER_MONTH / props.schedule.toMinutes();
  return line('found', '', {
    lambda_request: sweeps,
    lambda_gigabyte_second: (sweeps * props.memoryMib * SECONDS_PER_SWEEP) / 1024,
    metrics_call: sweeps,
    log_gigabyte: (sweeps * LOG_KIB_PER_SWEEP) / 1024 ** 2,
    queue_request: sweeps * REQUESTS_PER_MESSAGE,
  }).usd;
}

/** All lines together. */
export function fixedUsd(scope: Construct, props: ResolvedProps): number {
  return fixedLines(scope, props).reduce((sum, { usd }) => sum + usd, 0);
}

/** The same for people: a line for each part, and one number at the end. */
export function estimateFixedCost(scope: Construct, props: ResolvedProps): string {
  const lines = fixedLines(scope, props);
  const paid = lines.reduce((sum, { paidUsd }) => sum + paidUsd, 0);
  const budget = props.settings['budget_usd_per_month'];
  const onTop = [
    budget
      ? `  metric requests: at most ${budget} USD for each account and region (budget_usd_per_month)`
      : '  metric requests come on top: `burstwatch scan --cost` says how many; budget_usd_per_month limits them',
    ...(props.organization.length > 0
      ? [`  each account and region that is found adds ${usdOfFoundUnit(props).toFixed(2)} USD and its metric requests`]
      : []),
    ...(props.floor
      ? [
          `  the floor alarm is billed per volume: ${catalog.prices.alarm_metric.value.toFixed(2)} USD a volume-month on top`,
        ]
      : []),
  ];
  return [
    'burstwatch, in USD a month (list prices of us-east-1, 2026-11):',
    ...lines.map(({ what, usd }) => `  ${usd.toFixed(2).padStart(8)}  ${what}`),
    ...onTop,
    `in all: ${fixedUsd(scope, props).toFixed(2)} USD a month (${paid.toFixed(2)} after AWS's free tier) before metric requests`,
  ].join('\n');
}

/** An alarm on an expression is charged for each metric in it. */
function metricsOf(entries: readonly { metricStat?: unknown }[] | undefined): number {
  return Math.max(1, (entries ?? []).filter((entry) => entry.metricStat !== undefined).length);
}
