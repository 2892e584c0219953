import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { Sweeps } from './sweeps.ts';
import type { Topics } from './topics.ts';

/** Once a week one of the sweep functions writes what happened, to the topic notice. */
export class Digest extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { readonly deployment: string; readonly topics: Topics; readonly sweeps: Sweeps },
  ) {
    super(scope, id);
    const [{ function: fn }] = props.sweeps.sweepers as [Sweeps['sweepers'][number]];
    props.sweeps.logGroup.grant(fn, 'logs:FilterLogEvents');
    props.topics.notice.grantPublish(fn);
    new Rule(this, 'Rule', {
      description: `burstwatch ${props.deployment}: the digest of the week`,
      schedule: Schedule.cron({ weekDay: 'MON', hour: '7', minute: '0' }),
      targets: [new LambdaFunction(fn, { event: RuleTargetInput.fromObject({ digest: true }), retryAttempts: 1 })],
    });
  }
}
