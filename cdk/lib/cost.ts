import { Stack } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };
import { partsOf } from './parts.ts';
import type { ResolvedProps } from './props.ts';

const usdOf = (what: keyof typeof catalog.prices): number => catalog.prices[what].value;

const { log_kib_per_sweep: LOG_KIB_PER_SWEEP, seconds_per_sweep: SECONDS_PER_SWEEP } = catalog.bill;
const MINUTES_PER_MONTH = 30 * 24 * 60;
/** A message is sent, received and deleted; and Lambda's five pollers each ask every 20 seconds. */
const REQUESTS_PER_MESSAGE = 3;
const POLLS_PER_MINUTE = 5 * 3;

/** A line of the bill: its name, as in `burstwatch scan --cost`, how much in words, and USD a month. */
export interface Line {
  readonly name: string;
  readonly what: string;
  readonly usd: number;
}

/** What a deployment below `scope` costs a month whatever the fleet. Requests for metrics come on top. */
export function fixedLines(scope: Construct, props: ResolvedProps): Line[] {
  const stack = Stack.of(scope);
  const resources = scope.node.findAll();
  const count = (type: new (...args: never[]) => unknown) => resources.filter((child) => child instanceof type).length;
  const parts = partsOf(props).length;
  const sweeps = (MINUTES_PER_MONTH / props.schedule.toMinutes()) * parts;
  // Each part has a heartbeat of its own, and where there is a budget says what it has spent.
  const ownMetrics = props.settings['budget_usd_per_month'] ? 2 : 1;
  const metrics = catalog.fleet_metrics.length + parts * ownMetrics;
  const alarms = resources.filter((child) => child instanceof CfnAlarm);
  const alarmMetrics = alarms.reduce((sum, alarm) => sum + metricsOf(stack.resolve(alarm.metrics)), 0);
  // Its heartbeat, what it has spent, and which alarms there are.
  const calls = sweeps * (ownMetrics + 1);
  const logs = (sweeps * LOG_KIB_PER_SWEEP) / 1024 ** 2;
  const lambdaUsd =
    sweeps * (usdOf('lambda_request') + SECONDS_PER_SWEEP * (props.memoryMib / 1024) * usdOf('lambda_gigabyte_second'));
  const lines: Line[] = [
    { name: 'alarms', what: `${alarms.length} alarms on ${alarmMetrics} metrics`, usd: alarmMetrics * usdOf('alarm_metric') },
    ...(props.dashboard ? [{ name: 'dashboards', what: '1 dashboard', usd: usdOf('dashboard') }] : []),
    { name: 'fleet metrics', what: `${metrics} metrics`, usd: metrics * usdOf('custom_metric') },
    { name: 'keys', what: `${count(CfnKey)} key`, usd: count(CfnKey) * usdOf('key') },
    { name: 'sweeps', what: `${sweeps} sweeps of about ${SECONDS_PER_SWEEP} s`, usd: lambdaUsd },
    { name: 'calls', what: `${calls} requests of PutMetricData and DescribeAlarms`, usd: calls * usdOf('metrics_call') },
    { name: 'GB of logs', what: `${logs.toFixed(1)} GB of logs`, usd: logs * usdOf('log_gigabyte') },
  ];
  if (props.fanOut === 'queue') {
    const requests = sweeps * REQUESTS_PER_MESSAGE + MINUTES_PER_MONTH * POLLS_PER_MINUTE;
    lines.push({ name: 'queue', what: `${requests} requests to the queue`, usd: requests * usdOf('queue_request') });
  }
  return lines;
}

/** All lines together. */
export function fixedUsd(scope: Construct, props: ResolvedProps): number {
  return fixedLines(scope, props).reduce((sum, { usd }) => sum + usd, 0);
}

/** The same in words. */
export function estimateFixedCost(scope: Construct, props: ResolvedProps): string {
  const lines = fixedLines(scope, props);
  const total = fixedUsd(scope, props);
  const floor = props.floor
    ? ` The floor alarm is billed per volume: ${usdOf('alarm_metric').toFixed(2)} USD a volume-month on top.`
    : '';
  const budget = props.settings['budget_usd_per_month'];
  const requests = budget
    ? ` Metric requests: at most ${budget} USD a month for each unit (budget_usd_per_month).`
    : ' Metric requests come on top: `burstwatch scan --cost` says how many; budget_usd_per_month limits them.';
  return (
    `burstwatch: about ${total.toFixed(2)} USD a month before free tiers and metric requests ` +
    `(${lines.map(({ what, usd }) => `${what} ${usd.toFixed(2)}`).join(', ')}; us-east-1 list prices of 2026-11).${requests}${floor}`
  );
}

/** An alarm on an expression is charged for each metric in it. */
function metricsOf(entries: readonly { metricStat?: unknown }[] | undefined): number {
  return Math.max(1, (entries ?? []).filter((entry) => entry.metricStat !== undefined).length);
}
