import { ArnFormat, Duration, Stack, Token, Validations } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFn } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  type FunctionsProps,
  heartbeatAlarms,
  acknowledgeOwnAlarms,
  makeFooting,
  makeFunction,
  PUBLISHING,
  publishOwnMetrics,
  standbyAlarms,
  acknowledgeReads,
} from './functions.ts';
import { partDimension, partsOf } from './parts.ts';
import { type ResolvedProps, sweepTimeout } from './props.ts';
import { organizationOf } from './validate.ts';

/** AWS takes no resource for these: they list a whole organisation. */
const LISTINGS = [
  'account:ListRegions',
  'organizations:DescribeOrganization',
  'organizations:ListAccounts',
  'organizations:ListAccountsForParent',
  'organizations:ListOrganizationalUnitsForParent',
  'organizations:ListTagsForResource',
];

/**
 * Finds the accounts and regions of an organisation, and sends each to the queue of the sweeps once in a period. Who joins
 * is swept by itself, who leaves is not swept any more, and who lets nobody in is told once.
 */
export class Finder extends Construct {
  readonly function: LambdaFn;
  readonly rule: Rule;

  constructor(
    scope: Construct,
    id: string,
    props: FunctionsProps & { readonly queue: Queue; readonly deadLetters: Queue },
  ) {
    super(scope, id);
    const footing = makeFooting(this, 'Function', props);
    this.function = makeFunction(this, 'Function', props, {
      ...footing,
      handler: 'lambdas.find_units.handler',
      description: 'burstwatch: finds the accounts and regions of the organisation, and starts their sweeps',
      timeout: sweepTimeout(props),
    });
    this.function.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: Duration.seconds(60),
      onFailure: new SqsDestination(props.deadLetters),
    });
    this.rule = new Rule(this, 'Rule', {
      description: `burstwatch ${props.deployment}: find and sweep the accounts of the organisation`,
      schedule: Schedule.rate(props.schedule),
      targets: [
        new LambdaFunction(this.function, {
          event: RuleTargetInput.fromObject(this.question(props)),
          retryAttempts: 1,
          maxEventAge: Duration.seconds(60),
          deadLetterQueue: props.deadLetters,
        }),
      ],
    });
    this.allow(footing.role, props, props.queue);
  }

  private question(props: ResolvedProps & { readonly queue: IQueue }) {
    return {
      queue_url: props.queue.queueUrl,
      find: {
        parts: props.organization,
        regions: props.regions,
        role: props.memberRole,
        external_id: props.externalId,
        partition: Stack.of(this).partition,
        // These have a schedule of their own.
        fixed: [...new Set(partsOf(props).map(({ unit }) => partDimension(this, unit ? { unit } : {})))],
      },
    };
  }

  private allow(role: Role, props: FunctionsProps, queue: IQueue): void {
    role.addToPolicy(new PolicyStatement({ sid: 'ListTheOrganisation', actions: LISTINGS, resources: ['*'] }));
    role.addToPolicy(assumeRolesOf(this, props));
    role.addToPolicy(
      new PolicyStatement({ sid: 'StartSweeps', actions: ['sqs:SendMessage'], resources: [queue.queueArn] }),
    );
    role.addToPolicy(
      new PolicyStatement({ sid: 'ReadOurAlarms', actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }),
    );
    role.addToPolicy(publishOwnMetrics());
    const told = standbyAlarms(this, props.deployment);
    role.addToPolicy(
      new PolicyStatement({
        sid: 'TellWhoLetsNobodyIn',
        actions: ['cloudwatch:PutMetricAlarm'],
        resources: told,
        conditions: {
          'ForAllValues:StringEquals': {
            'cloudwatch:AlarmActions': [props.topics.page.topicArn, props.topics.notice.topicArn],
          },
        },
      }),
    );
    role.addToPolicy(
      new PolicyStatement({
        sid: 'KeepWhoHasLetUsIn',
        actions: ['cloudwatch:ListTagsForResource', 'cloudwatch:TagResource'],
        resources: [...told, heartbeatAlarms(this, props.deployment)],
      }),
    );
    acknowledgeReads(role, [...LISTINGS, 'cloudwatch:DescribeAlarms', PUBLISHING]);
    acknowledgeOwnAlarms(role, props.deployment, { withHeartbeats: true });
    acknowledgeRolesOf(role, props);
  }
}

/** The role of each account, in whichever account of the organisation it is. */
export function assumeRolesOf(scope: Construct, props: ResolvedProps): PolicyStatement {
  return new PolicyStatement({
    sid: 'ReadAccountsOfTheOrganisation',
    actions: ['sts:AssumeRole'],
    resources: [roleInAnyAccount(scope, props)],
    conditions: { StringEquals: { 'aws:ResourceOrgID': organizationOf(props.organization[0]!) } },
  });
}

function roleInAnyAccount(scope: Construct, props: ResolvedProps): string {
  return Stack.of(scope).formatArn({
    service: 'iam',
    region: '',
    account: '*',
    resource: 'role',
    resourceName: props.memberRole,
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });
}

/** Which accounts there will be is not known at deployment. */
export function acknowledgeRolesOf(role: Role, props: ResolvedProps): void {
  const { partition } = Stack.of(role);
  // cdk-nag prints what is not known before deployment as the pseudo parameter's name.
  const known = Token.isUnresolved(partition) ? '<AWS::Partition>' : partition;
  Validations.of(role).acknowledge({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::arn:${known}:iam::*:role/${props.memberRole}]`,
    reason:
      'the accounts of the organisation come and go; a condition limits it to those of this organisation, and the role to reads',
  });
}
