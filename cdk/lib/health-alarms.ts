import { Duration } from 'aws-cdk-lib';
import {
  Alarm, CfnAlarm, ComparisonOperator, type IMetric, MathExpression, Metric, Stats, TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { HEARTBEATS, NAMESPACE, type ResolvedProps, sweepTimeout } from './props.ts';
import { partDimension, partId, partName, partsOf } from './parts.ts';
import type { Sweeps } from './sweeps.ts';
import type { Topics } from './topics.ts';

const MINUTE = Duration.minutes(1);
/** So many periods in a row must be calm before an alarm on the fleet ends. */
const CALM_PERIODS = 15;

interface Watch {
  readonly metric: IMetric;
  readonly threshold: number;
  readonly comparison?: ComparisonOperator;
  readonly periods?: number;
  /** How many of the periods must be so; default all. Fewer make it slow to end, and not slower to begin. */
  readonly datapoints?: number;
  readonly missing?: TreatMissingData;
  readonly topic: Topic;
  readonly description: string;
  /** Its runbook, where that is not named like the alarm. */
  readonly runbook?: string;
  /** The unit and shard that it is about, where there is one alarm for each. */
  readonly part?: string;
}

/** Where an alarm's runbook is, to be said in its description. */
export function runbookLine(name: string, props: { readonly settings: Readonly<Record<string, string>> }): string {
  return `Runbook: ${(props.settings['runbooks_url'] || 'monitoring/runbooks').replace(/\/$/, '')}/${name}.md`;
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
    props: ResolvedProps & { readonly topics: Topics; readonly sweeps: Sweeps },
  ) {
    super(scope, id);
    const { page, notice } = props.topics;
    const { sweepers, deadLetters } = props.sweeps;
    const period = props.schedule;
    const fleet = (name: string, statistic?: string) => fleetMetric(name, props.deployment, statistic, period);
    const add = (name: string, watch: Watch) => {
      const description = `${watch.description} ${runbookLine(watch.runbook ?? name, props)}`;
      const full = [name, watch.part].filter(Boolean).join('-');
      this.add(`burstwatch-${props.deployment}-${full}`, full, { ...watch, description });
    };

    // These two say how the fleet is. Whoever must get up has been woken by an alarm of the volume, or of many.
    add('volumes-exhausted', {
      metric: fleet('ResourcesExhausted'),
      threshold: 1,
      periods: CALM_PERIODS,
      datapoints: 1,
      missing: TreatMissingData.IGNORE,
      topic: notice,
      description: 'At least one volume has no burst credits left and is held to its baseline. The per-volume alarms name it; `burstwatch scan` lists the fleet.',
    });
    add('volumes-critical', {
      metric: fleet('ResourcesCritical', Stats.SUM),
      threshold: 10,
      // Two sweeps within one minute count everything twice, once.
      periods: CALM_PERIODS,
      datapoints: 2,
      missing: TreatMissingData.IGNORE,
      topic: notice,
      description: 'Ten or more volumes run dry within the lead time at once: look for one cause (a deployment, a backup, a shared job).',
    });
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
        description: `No sweep of ${partId(part) ? partName(part) : 'the account and region of the deployment'} has completed for five periods: nothing is being watched there. See the function's log, its rule and its permissions.`,
      });
    }
    add('volumes-unknown', {
      metric: new MathExpression({
        expression: '100 * unknown / IF(seen > 0, seen, 1)',
        usingMetrics: { unknown: fleet('ResourcesUnknown', Stats.SUM), seen: fleet('ResourcesSeen', Stats.SUM) },
        label: 'unknown volumes, percent',
        period,
      }),
      threshold: 20,
      periods: 5,
      topic: notice,
      description: 'More than a fifth of the volumes cannot be judged: no data, denied calls, or a resize that has no datapoint yet. They are not watched meanwhile.',
    });
    add('stale-data', {
      metric: fleet('DataAge'),
      threshold: 15 * 60,
      periods: 5,
      topic: notice,
      description: 'CloudWatch\'s datapoints are more than 15 minutes late: projections reach that much less far.',
    });
    add('unit-failed', {
      metric: fleet('UnitsFailed'),
      threshold: 1,
      periods: 3,
      topic: notice,
      description: 'An account or region could not be read in full, or its results not published. The function\'s log names the call.',
    });
    add('parts-failed', {
      metric: fleet('Problems'),
      threshold: 1,
      periods: 5,
      topic: notice,
      description: 'Parts of each sweep fail (a denied call, an alarm that cannot be made). The function\'s log names them.',
    });
    add('calls-throttled', {
      metric: fleet('CallsThrottled', Stats.SUM),
      threshold: 10,
      periods: 5,
      topic: notice,
      description: 'AWS asks for fewer calls, sweep after sweep. They are tried again and what is not answered is unknown; the quota is shared with everybody in the account.',
    });
    add('budget-reached', {
      metric: fleet('MetricsRefused', Stats.SUM),
      threshold: 1,
      periods: 5,
      topic: notice,
      description: 'The budget for metric requests is used up. Those near danger are asked first; the rest are unknown and not watched. Raise budget_usd_per_month, or watch fewer.',
    });
    for (const { id: own, function: fn } of sweepers) {
      add('function-errors', {
        part: own,
        metric: fn.metricErrors({ period }),
        threshold: 1,
        periods: 3,
        topic: notice,
        description: 'The sweep function fails. Its log has the reason.',
      });
      add('function-throttles', {
        part: own,
        metric: fn.metricThrottles({ period }),
        threshold: 1,
        periods: 3,
        topic: notice,
        description: 'The account\'s Lambda concurrency is used up and sweeps are not started.',
      });
      add('function-slow', {
        part: own,
        metric: fn.metricDuration({ period, statistic: Stats.MAXIMUM }),
        threshold: 0.8 * sweepTimeout(props).toMilliseconds(),
        periods: 5,
        topic: notice,
        description: 'Sweeps take more than 80 % of the time they have. Give the function more memory, or sweep in shards or less often.',
      });
    }
    add('dead-letters', {
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: Stats.MAXIMUM }),
      threshold: 1,
      topic: notice,
      description: 'Invocations could not be handed over or failed. The dead-letter queue holds them; purge it when the cause is fixed.',
    });
    for (const [name, topic] of Object.entries({ page, notice, events: props.topics.events })) {
      add(`undelivered-${name}`, {
        metric: topic.metricNumberOfNotificationsFailed({ period: MINUTE, statistic: Stats.SUM }),
        threshold: 1,
        topic: name === 'page' ? notice : page,
        runbook: 'undelivered',
        description: `Messages of the topic ${name} do not reach a subscriber.`,
      });
    }
  }

  private add(alarmName: string, id: string, watch: Watch): void {
    const alarm = new Alarm(this, id, {
      alarmName,
      alarmDescription: watch.description,
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
      alarmDescription: `A volume's BurstBalance is under ${props.percent} %. This alarm does not need the sweep. ${runbookLine('floor', props)}`,
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
