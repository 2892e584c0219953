import { CfnOutput } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { buildPackage } from './bundle.ts';
import { Digest } from './digest.ts';
import { Cleanup } from './cleanup.ts';
import { FleetDashboard } from './dashboard.ts';
import { Finder } from './finder.ts';
import { FloorAlarm, HealthAlarms } from './health-alarms.ts';
import type { BurstWatchProps } from './api.ts';
import { resolveProps } from './props.ts';
import { Sweeps } from './sweeps.ts';
import { Topics } from './topics.ts';
import { validateProps } from './validate.ts';

/** What a deployment has that others can use. */
export interface Parts {
  readonly topics: Topics;
  readonly sweeps: Sweeps;
}

/** Watches the burst credits of one account and region, and says how long they last. */
export class BurstWatch extends Construct implements Parts {
  readonly topics: Topics;
  readonly sweeps: Sweeps;

  constructor(scope: Construct, id: string, given: BurstWatchProps = {}) {
    super(scope, id);
    ({ topics: this.topics, sweeps: this.sweeps } = addParts(this, given));
  }
}

/** Adds everything below a construct: below ours, or below the published one, whose class jsii has compiled. */
export function addParts(scope: Construct, given: BurstWatchProps): Parts {
  const props = resolveProps(given);
  validateProps(scope, props);
  const code = given.code ?? Code.fromAsset(buildPackage());
  const topics = new Topics(scope, 'Topics', props);
  const shared = { ...props, code, topics };
  const cleanup = new Cleanup(scope, 'Cleanup', shared);
  const sweeps = new Sweeps(scope, 'Sweep', shared);
  // Deleted in the reverse order: first what starts sweeps, then the alarms that the last ones made.
  for (const starter of sweeps.starters) starter.node.addDependency(cleanup);
  const finder =
    sweeps.queue && props.organization.length > 0
      ? new Finder(scope, 'Finder', { ...shared, queue: sweeps.queue, deadLetters: sweeps.deadLetters })
      : undefined;
  finder?.rule.node.addDependency(cleanup);
  const health = new HealthAlarms(scope, 'Health', {
    ...props,
    topics,
    sweeps,
    ...(finder ? { finder: finder.function } : {}),
  });
  // A heartbeat that nobody has published yet would be missed at once.
  for (const alarm of health.alarms) alarm.node.addDependency(cleanup);
  if (props.digest) {
    new Digest(scope, 'Digest', { ...shared, sweeps });
  }
  if (props.floor) {
    new FloorAlarm(scope, 'Floor', { ...props, percent: props.floorPercent, topic: topics.notice });
  }
  if (props.dashboard) {
    new FleetDashboard(scope, 'Fleet', { deployment: props.deployment, alarms: health.alarms, sweeps });
  }
  new CfnOutput(scope, 'PageTopicArn', { value: topics.page.topicArn, description: 'critical alarms' });
  new CfnOutput(scope, 'NoticeTopicArn', { value: topics.notice.topicArn, description: 'warnings and health' });
  new CfnOutput(scope, 'EventsTopicArn', { value: topics.events.topicArn, description: 'readable detail' });
  for (const { id: own, function: fn } of sweeps.sweepers) {
    new CfnOutput(scope, `SweepFunctionName${own.replaceAll('-', '')}`, {
      value: fn.functionName,
      description: `the function that sweeps ${props.fanOut === 'queue' ? 'every unit' : own || 'the account and region of this stack'}`,
    });
  }
  for (const [number, { rule, starts }] of sweeps.rules.entries()) {
    new CfnOutput(scope, `RuleName${number || ''}`, { value: rule.ruleName, description: `starts ${starts}` });
  }
  if (finder) {
    new CfnOutput(scope, 'RuleNameFinder', {
      value: finder.rule.ruleName,
      description: 'starts the search for accounts of the organisation',
    });
  }
  new CfnOutput(scope, 'LogGroupName', { value: sweeps.logGroup.logGroupName, description: 'the log of the sweeps' });
  new CfnOutput(scope, 'DeadLettersUrl', {
    value: sweeps.deadLetters.queueUrl,
    description: 'what failed or could not be handed over',
  });
  return { topics, sweeps };
}
