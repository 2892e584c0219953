import { Duration, Lazy } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { fixedUsd } from './cost.ts';
import { acknowledgeKey, acknowledgeReads, type FunctionsProps, makeFooting, makeFunction } from './functions.ts';
import type { Sweeps } from './sweeps.ts';

/** Reading a week of a large fleet's log takes longer than a sweep may. */
const TIMEOUT = Duration.minutes(5);

/** Once a week a function writes what happened, by the log of the sweeps, to the topic notice. */
export class Digest extends Construct {
  constructor(scope: Construct, id: string, props: FunctionsProps & { readonly sweeps: Sweeps }) {
    super(scope, id);
    const { logGroup } = props.sweeps;
    const footing = makeFooting(this, 'Function', props);
    const fn = makeFunction(this, 'Function', props, {
      ...footing,
      handler: 'lambdas.sweep.handler',
      description: 'burstwatch: the digest of the week',
      timeout: TIMEOUT,
      environment: { BURSTWATCH_NOTICE_TOPIC_ARN: props.topics.notice.topicArn },
    });
    // A digest that fails ends in the dead-letter queue, which has an alarm.
    fn.configureAsyncInvoke({ retryAttempts: 0, onFailure: new SqsDestination(props.sweeps.deadLetters) });
    logGroup.grant(fn, 'logs:FilterLogEvents');
    props.topics.notice.grantPublish(fn);
    footing.role.addToPolicy(
      new PolicyStatement({ sid: 'CountTheRequests', actions: ['cloudwatch:GetMetricData'], resources: ['*'] }),
    );
    acknowledgeKey(footing.role);
    acknowledgeReads(footing.role, ['cloudwatch:GetMetricData']);
    // Known when everything else is there.
    const cost = Lazy.number({ produce: () => Math.round(100 * fixedUsd(scope, props)) / 100 });
    new Rule(this, 'Rule', {
      description: `burstwatch ${props.deployment}: the digest of the week`,
      schedule: Schedule.cron({ weekDay: 'MON', hour: '7', minute: '0' }),
      targets: [
        new LambdaFunction(fn, {
          event: RuleTargetInput.fromObject({ digest: logGroup.logGroupName, fixed_usd_a_month: cost }),
          retryAttempts: 1,
        }),
      ],
    });
  }
}
