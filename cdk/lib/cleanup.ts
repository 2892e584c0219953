import { CustomResource, Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { TIMEOUT } from './props.ts';
import { acknowledgeOwnAlarms, acknowledgeReads, deleteOwnAlarms, type FunctionsProps, makeFunction } from './sweep-function.ts';

/** Deletes the sweep's alarms with the stack. Whatever makes alarms must depend on it, to be gone before. */
export class Cleanup extends Construct {
  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    const fn = makeFunction(this, 'Function', props, {
      handler: 'lambdas.cleanup.handler',
      description: 'burstwatch: deletes the alarms that sweeps have made when the stack is deleted',
      timeout: Duration.minutes(5),
    });
    fn.addToRolePolicy(
      new PolicyStatement({ sid: 'FindOurAlarms', actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }),
    );
    fn.addToRolePolicy(deleteOwnAlarms(this, props.deployment));
    acknowledgeReads(fn, ['cloudwatch:DescribeAlarms by prefix']);
    acknowledgeOwnAlarms(fn, props.deployment);
    const resource = new CustomResource(this, 'Alarms', {
      serviceToken: fn.functionArn,
      resourceType: 'Custom::BurstwatchAlarms',
      serviceTimeout: Duration.minutes(6),
      // The last sweep may still run when its rule is gone: wait it out, then look once more.
      properties: { SettleSeconds: TIMEOUT.toSeconds() },
    });
    resource.node.addDependency(fn.role as Construct);
  }
}
