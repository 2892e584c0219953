import { CustomResource, Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { partDimension, partsOf } from './parts.ts';
import { HEARTBEATS, sweepTimeout } from './props.ts';
import {
  PUBLISHING,
  acknowledgeOwnAlarms,
  acknowledgeReads,
  deleteOwnAlarms,
  type FunctionsProps,
  makeFooting,
  makeFunction,
  publishOwnMetrics,
} from './functions.ts';

/**
 * Deletes the sweep's alarms with the stack, so whatever makes alarms must depend on it, to be gone before. Publishes a
 * first heartbeat of each unit, so the alarms that miss one must depend on it too, to come after.
 */
export class Cleanup extends Construct {
  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    const settle = sweepTimeout(props);
    const footing = makeFooting(this, 'Function', props);
    const { role } = footing;
    const fn = makeFunction(this, 'Function', props, {
      ...footing,
      handler: 'lambdas.cleanup.handler',
      description:
        'burstwatch: publishes the first heartbeats. When the stack is deleted, deletes the alarms that sweeps have made',
      timeout: settle.plus(Duration.minutes(3)),
    });
    role.addToPolicy(
      new PolicyStatement({ sid: 'FindOurAlarms', actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }),
    );
    role.addToPolicy(deleteOwnAlarms(this, props.deployment));
    role.addToPolicy(publishOwnMetrics());
    acknowledgeReads(role, ['cloudwatch:DescribeAlarms by prefix', PUBLISHING]);
    acknowledgeOwnAlarms(role, props.deployment);
    const resource = new CustomResource(this, 'Alarms', {
      serviceToken: fn.functionArn,
      resourceType: 'Custom::BurstwatchAlarms',
      serviceTimeout: settle.plus(Duration.minutes(4)),
      // The last sweep may still run when its rule is gone: wait it out, then look once more.
      properties: {
        Deployment: props.deployment,
        SettleSeconds: settle.toSeconds(),
        PeriodSeconds: props.schedule.toSeconds(),
        Periods: HEARTBEATS,
        Units: [
          ...partsOf(props).map((part) => partDimension(this, part)),
          ...(props.organization.length > 0 ? ['found'] : []),
        ],
      },
    });
    resource.node.addDependency(role);
  }
}
