import { CfnOutput } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { buildPackage } from './bundle.ts';
import { Digest } from './digest.ts';
import { Cleanup } from './cleanup.ts';
import { FleetDashboard } from './dashboard.ts';
import { FloorAlarm, HealthAlarms } from './health-alarms.ts';
import { type BurstWatchProps, resolveProps } from './props.ts';
import { Sweeps } from './sweeps.ts';
import { Topics } from './topics.ts';
import { validateProps } from './validate.ts';

/** Watches every EBS volume of one account and region, and says how long their burst credits last. */
export class BurstWatch extends Construct {
  readonly topics: Topics;
  readonly sweeps: Sweeps;

  constructor(scope: Construct, id: string, given: BurstWatchProps = {}) {
    super(scope, id);
    const props = resolveProps(given);
    validateProps(this, props);
    const code = given.code ?? Code.fromAsset(buildPackage());
    this.topics = new Topics(this, 'Topics', props);
    const shared = { ...props, code, topics: this.topics };
    const cleanup = new Cleanup(this, 'Cleanup', shared);
    this.sweeps = new Sweeps(this, 'Sweep', shared);
    // Deleted in the reverse order: first what starts sweeps, then the alarms that the last ones made.
    for (const starter of this.sweeps.starters) starter.node.addDependency(cleanup);
    const health = new HealthAlarms(this, 'Health', { ...props, topics: this.topics, sweeps: this.sweeps });
    // A heartbeat that nobody has published yet would be missed at once.
    for (const alarm of health.alarms) alarm.node.addDependency(cleanup);
    if (props.digest) {
      new Digest(this, 'Digest', { ...shared, sweeps: this.sweeps });
    }
    if (props.floor) {
      new FloorAlarm(this, 'Floor', { ...props, percent: props.floorPercent, topic: this.topics.notice });
    }
    new FleetDashboard(this, 'Fleet', { deployment: props.deployment, alarms: health.alarms, sweeps: this.sweeps });
    new CfnOutput(this, 'PageTopicArn', { value: this.topics.page.topicArn, description: 'critical alarms' });
    new CfnOutput(this, 'NoticeTopicArn', { value: this.topics.notice.topicArn, description: 'warnings and health' });
    new CfnOutput(this, 'EventsTopicArn', { value: this.topics.events.topicArn, description: 'readable detail' });
    for (const { id: own, function: fn } of this.sweeps.sweepers) {
      new CfnOutput(this, `SweepFunctionName${own.replaceAll('-', '')}`, {
        value: fn.functionName,
        description: `the function that sweeps ${props.fanOut === 'queue' ? 'every unit' : own || 'the account and region of this stack'}`,
      });
    }
    for (const [number, { rule, starts }] of this.sweeps.rules.entries()) {
      new CfnOutput(this, `RuleName${number || ''}`, { value: rule.ruleName, description: `starts ${starts}` });
    }
    new CfnOutput(this, 'LogGroupName', { value: this.sweeps.logGroup.logGroupName, description: 'the log of the sweeps' });
    new CfnOutput(this, 'DeadLettersUrl', { value: this.sweeps.deadLetters.queueUrl, description: 'what failed or could not be handed over' });
  }
}
