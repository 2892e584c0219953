import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  CfnAlarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Function as LambdaFn } from 'aws-cdk-lib/aws-lambda';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };
import { HEARTBEATS, NAMESPACE, type ResolvedProps, sweepTimeout } from './props.ts';
import { partDimension, partId, partName, partsOf } from './parts.ts';
import type { Sweeps } from './sweeps.ts';
import type { Topics } from './topics.ts';

const MINUTE = Duration.minutes(1);
const [FOUND, COMPLETED] = catalog.found_metrics as [string, string];
interface Watch {
  readonly metric: IMetric;
  readonly threshold: number;
  readonly comparison?: ComparisonOperator;
  readonly periods?: number;
  /** How many of the periods must be so; default all. Fewer make it slow to end, and not slower to begin. */
  readonly datapoints?: number;
  readonly missing?: TreatMissingData;
  readonly topic: Topic;
  /** What ALARM and OK mean, and what to do first: one text is sent with both. */
  readonly means: string;
  readonly ok: string;
  readonly now: string;
  /** Its runbook, where that is not named like the alarm. */
  readonly runbook?: string;
  /** The unit and shard that it is about, where there is one alarm for each. */
  readonly part?: string;
}

/** Where an alarm's runbook is, to be said in its description. */
export function runbookLine(name: string, props: { readonly settings: Readonly<Record<string, string>> }): string {
  const folder =
    props.settings['runbooks_url'] ?? catalog.settings.find((setting) => setting.name === 'runbooks_url')?.default;
  return `Runbook: ${`${folder}`.replace(/\/$/, '')}/${name}.md`;
}

function describe(watch: Pick<Watch, 'means' | 'ok' | 'now'>, runbook: string): string {
  return [`ALARM: ${watch.means}`, `Now: ${watch.now}`, `OK: ${watch.ok}`, runbook].join('\n');
}

/** A metric that the sweep publishes about the whole deployment. */
export function fleetMetric(name: string, deployment: string, statistic = Stats.MAXIMUM, period = MINUTE): Metric {
  return new Metric({
    namespace: NAMESPACE,
    metricName: name,
    dimensionsMap: { Deployment: deployment },
    statistic,
    period,
  });
}

/**
 * Alarms on the fleet and on the monitor itself. Their names are outside the prefix of the alarms that the
 * sweep makes, so that no sweep takes them for its own.
 */
export class HealthAlarms extends Construct {
  readonly alarms: Alarm[] = [];

  constructor(
    scope: Construct,
    id: string,
    props: ResolvedProps & { readonly topics: Topics; readonly sweeps: Sweeps; readonly finder?: LambdaFn },
  ) {
    super(scope, id);
    const { page, notice } = props.topics;
    const { deadLetters } = props.sweeps;
    const sweepers = [...props.sweeps.sweepers, ...(props.finder ? [{ id: 'finder', function: props.finder }] : [])];
    const period = props.schedule;
    const fleet = (name: string, statistic?: string) => fleetMetric(name, props.deployment, statistic, period);
    const add = (name: string, watch: Watch) => {
      const full = [name, watch.part].filter(Boolean).join('-');
      this.add(`burstwatch-${props.deployment}-${full}`, full, watch, runbookLine(watch.runbook ?? name, props));
    };

    // The sweep writes into these two who is concerned, and publishes their metric while somebody is.
    for (const [name, topic, means] of [
      [
        'not-paged',
        page,
        'A resource is critical and its alarm could not be made, or nobody has subscribed to the topic notice.',
      ],
      ['not-heard', notice, 'An alarm was silenced or could not be made, or nobody has subscribed to the topic page.'],
    ] as const) {
      add(name, {
        metric: fleet(catalog.standby_metrics[name]),
        threshold: 1,
        // Two sweeps need not begin in two minutes of the clock.
        periods: 3,
        datapoints: 1,
        topic,
        means,
        ok: 'each alarm could be made again, and somebody hears it.',
        now:
          name === 'not-paged'
            ? 'act on the resources named above, then make room for alarms.'
            : 'make somebody hear the alarms named above.',
      });
    }
    // By unit and shard: the heartbeats of the others must not hide that one has stopped.
    for (const part of partsOf(props)) {
      add('no-completed-sweep', {
        part: partId(part),
        metric: fleet('SweepCompleted', Stats.SUM).with({
          dimensionsMap: { Deployment: props.deployment, Unit: partDimension(this, part) },
        }),
        threshold: 1,
        comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
        periods: HEARTBEATS,
        missing: TreatMissingData.BREACHING,
        topic: page,
        means: `No sweep of ${partId(part) ? partName(part) : 'the account and region of the deployment'} has completed for ${HEARTBEATS} periods of the schedule. A resource may run out there, and nobody is told.`,
        ok: 'sweeps complete again.',
        now: "look at the function's log, its rule and its permissions.",
      });
    }
    if (props.finder) {
      // In as many periods as miss a heartbeat: a message that waits is then in one window or the next.
      const window = Duration.minutes(HEARTBEATS * period.toMinutes());
      add('no-completed-sweep', {
        part: 'found',
        metric: new MathExpression({
          // None found is as bad as none completed.
          expression: `IF(found > 0, found - FILL(completed, 0) / ${HEARTBEATS}, 1)`,
          usingMetrics: {
            found: fleetMetric(FOUND, props.deployment, Stats.MAXIMUM, window),
            completed: fleetMetric(COMPLETED, props.deployment, Stats.SUM, window),
          },
          label: 'units that were found, and whose sweeps do not complete',
          period: window,
        }),
        threshold: 1,
        periods: 2,
        missing: TreatMissingData.BREACHING,
        topic: page,
        means: `Sweeps of accounts or regions of the organisation do not complete, or none are found, for ${2 * HEARTBEATS} periods of the schedule. A resource may run out there, and nobody is told.`,
        ok: 'sweeps of all that were found complete again.',
        now: 'find "unit" with "completed":false in the log of the sweeps, and look at the log of the finder.',
      });
    }
    add('volumes-unknown', {
      metric: new MathExpression({
        expression: '100 * unknown / IF(seen > 0, seen, 1)',
        usingMetrics: { unknown: fleet('ResourcesUnknown', Stats.SUM), seen: fleet('ResourcesSeen', Stats.SUM) },
        label: 'unknown resources, percent',
        period,
      }),
      threshold: 20,
      periods: 5,
      topic: notice,
      means: 'At least a fifth of the resources cannot be judged. Until they can, burstwatch does not watch them.',
      ok: 'nearly all resources are judged again.',
      now: 'run `burstwatch scan` to see why: no data, a denied call, or no datapoint yet after a resize.',
    });
    add('stale-data', {
      metric: fleet('DataAge'),
      threshold: 15 * 60,
      periods: 5,
      topic: notice,
      means:
        'The newest datapoints of a resource are at least 15 minutes old. burstwatch cannot judge such a resource and does not page for it.',
      ok: 'the datapoints are in time again.',
      now: 'look at the AWS Health Dashboard for CloudWatch.',
    });
    add('unit-failed', {
      metric: fleet('UnitsFailed'),
      threshold: 1,
      periods: 3,
      topic: notice,
      means: 'An account or region cannot be read in full, or its results cannot be published.',
      ok: 'every account and region is read again.',
      now: "find the failed call in the function's log.",
    });
    add('parts-failed', {
      metric: fleet('Problems'),
      threshold: 1,
      periods: 5,
      topic: notice,
      means: 'Parts of each sweep fail, such as a denied call or an alarm that cannot be made.',
      ok: 'no part fails.',
      now: "find the failed part in the function's log.",
    });
    add('calls-throttled', {
      metric: fleet('CallsThrottled', Stats.SUM),
      threshold: 10,
      periods: 5,
      topic: notice,
      means:
        'AWS throttles calls in one sweep after another. Resources of a call without an answer are not judged in that sweep.',
      ok: 'AWS answers all calls again.',
      now: 'find out who else in the account uses the quota.',
    });
    add('budget-reached', {
      metric: fleet('MetricsRefused', Stats.SUM),
      threshold: 1,
      periods: 5,
      topic: notice,
      means:
        'The budget for metric requests is used up. Resources near danger are asked for first; the rest are not watched.',
      ok: 'the budget is enough again.',
      now: 'raise budget_usd_per_month, or watch fewer resources.',
    });
    for (const { id: own, function: fn } of sweepers) {
      add('function-errors', {
        part: own,
        metric: fn.metricErrors({ period }),
        threshold: 1,
        periods: 3,
        topic: notice,
        means: 'The sweep function fails.',
        ok: 'the sweep function runs again.',
        now: "find the error in the function's log.",
      });
      add('function-throttles', {
        part: own,
        metric: fn.metricThrottles({ period }),
        threshold: 1,
        periods: 3,
        topic: notice,
        means: 'Lambda does not start sweeps: the concurrency of the account is used up.',
        ok: 'Lambda starts sweeps again.',
        now: 'find out which functions of this account and region use it, or ask AWS for a higher quota.',
      });
      add('function-slow', {
        part: own,
        metric: fn.metricDuration({ period, statistic: Stats.MAXIMUM }),
        threshold: 0.8 * sweepTimeout(props).toMilliseconds(),
        periods: 5,
        topic: notice,
        means: 'Sweeps take at least 80 % of the timeout of the function.',
        ok: 'sweeps are fast enough again.',
        now: 'give the function more memory, or use shards or a longer period.',
      });
    }
    add('dead-letters', {
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: Stats.MAXIMUM }),
      threshold: 1,
      topic: notice,
      means: 'Invocations failed or could not be handed over. The dead-letter queue holds them.',
      ok: 'the queue is empty.',
      now: 'read the messages in the queue, fix the cause, then purge the queue.',
    });
    for (const [name, topic] of Object.entries({ page, notice, events: props.topics.events })) {
      add(`undelivered-${name}`, {
        metric: topic.metricNumberOfNotificationsFailed({ period: MINUTE, statistic: Stats.SUM }),
        threshold: 1,
        topic: name === 'page' ? notice : page,
        runbook: 'undelivered',
        means: `Messages of the topic ${name} do not reach a subscriber.`,
        ok: 'messages reach every subscriber again.',
        now: 'check the subscriptions of the topic.',
      });
    }
  }

  private add(alarmName: string, id: string, watch: Watch, runbook: string): void {
    const alarm = new Alarm(this, id, {
      alarmName,
      alarmDescription: describe(watch, runbook),
      metric: watch.metric,
      threshold: watch.threshold,
      comparisonOperator: watch.comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: watch.periods ?? 1,
      datapointsToAlarm: watch.datapoints ?? watch.periods ?? 1,
      treatMissingData: watch.missing ?? TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(watch.topic));
    alarm.addOkAction(new SnsAction(watch.topic));
    this.alarms.push(alarm);
  }
}

/**
 * One alarm on the raw balance of every volume, which works even when no sweep does. Best effort: it follows 500
 * volumes, knows neither size nor drain, and a volume that falls silent "recovers".
 */
export class FloorAlarm extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: Pick<ResolvedProps, 'deployment' | 'settings'> & { readonly percent: number; readonly topic: Topic },
  ) {
    super(scope, id);
    new CfnAlarm(this, 'Alarm', {
      alarmName: `burstwatch-${props.deployment}-floor`,
      alarmDescription: describe(
        {
          means: `The BurstBalance of a volume is under ${props.percent} %. This alarm works without the sweep.`,
          ok: `no volume is under ${props.percent} %, or the lowest one publishes no balance any more.`,
          now: 'run `burstwatch scan` to see which volume it is.',
        },
        runbookLine('floor', props),
      ),
      metrics: [
        {
          id: 'floor',
          expression: 'SELECT MIN(BurstBalance) FROM SCHEMA("AWS/EBS", VolumeId) GROUP BY VolumeId ORDER BY MIN() ASC',
          period: 60,
          returnData: true,
        },
      ],
      comparisonOperator: 'LessThanThreshold',
      threshold: props.percent,
      evaluationPeriods: 5,
      datapointsToAlarm: 3,
      treatMissingData: 'notBreaching',
      alarmActions: [props.topic.topicArn],
      okActions: [props.topic.topicArn],
    });
  }
}
