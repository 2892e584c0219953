import { ArnFormat, Duration, RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Effect, type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type Code, Function as LambdaFn, Runtime, RuntimeFamily } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };
import { MEMORY_MIB, NAMESPACE, PYTHON, type ResolvedProps, TIMEOUT, type WatchedUnit } from './props.ts';
import type { Topics } from './topics.ts';

const EVENT_AGE = Duration.seconds(60);

export interface FunctionsProps extends ResolvedProps {
  readonly code: Code;
  readonly topics: Topics;
}

/** The sweep, its schedule, and where an invocation ends up that could not be handed over. */
export class SweepFunction extends Construct {
  readonly function: LambdaFn;
  readonly deadLetters: Queue;
  readonly rules: readonly Rule[];

  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    this.function = makeFunction(this, 'Function', props, {
      handler: 'lambdas.sweep.handler',
      description: 'burstwatch: looks at every volume, publishes what runs dry, keeps the alarms',
      timeout: TIMEOUT,
      environment: {
        BURSTWATCH_SWEEP_PERIOD_S: `${props.schedule.toSeconds()}`,
        BURSTWATCH_PAGE_TOPIC_ARN: props.topics.page.topicArn,
        BURSTWATCH_NOTICE_TOPIC_ARN: props.topics.notice.topicArn,
        BURSTWATCH_EVENTS_TOPIC_ARN: props.topics.events.topicArn,
        BURSTWATCH_DASHBOARD_URL: props.settings['dashboard_url'] ?? dashboardUrl(this, props.deployment),
      },
    });
    // A sweep that is late is worthless: the next one is due already. So nothing is tried again.
    this.function.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: EVENT_AGE,
      onFailure: new SqsDestination(this.deadLetters),
    });
    // One rule for each unit, with the unit as its constant input: a unit is the unit of failure.
    this.rules = [undefined, ...props.units].map((unit) =>
      new Rule(this, unit ? `Rule${unitId(unit)}` : 'Rule', {
        description: `burstwatch ${props.deployment}: sweep ${unit ? unitId(unit) : 'at home'}`,
        schedule: Schedule.rate(props.schedule),
        targets: [
          new LambdaFunction(this.function, {
            event: RuleTargetInput.fromObject({ unit: unit ? this.input(unit, props) : {} }),
            retryAttempts: 1, // of the hand-over only
            maxEventAge: EVENT_AGE,
            deadLetterQueue: this.deadLetters,
          }),
        ],
      }),
    );
    this.allow(props);
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions::AwsSolutions-SQS3',
      reason: 'this queue is the dead-letter queue itself, and an alarm watches its depth',
    });
    acknowledgeReads(this.function, [
      ...catalog.read_actions,
      'cloudwatch:PutMetricData, which takes no resource; a condition limits it to our namespace',
    ]);
    acknowledgeOwnAlarms(this.function, props.deployment);
    Validations.of(roleOf(this.function)).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
      reason: 'the two forms of one call, on one key',
    });
  }

  /** What the function is told of a unit: an account of its own is reached through its member role. */
  private input(unit: WatchedUnit, props: FunctionsProps): Record<string, string> {
    if (unit.account === undefined) return { region: unit.region };
    return {
      account: unit.account,
      region: unit.region,
      role_arn: memberRoleArn(this, unit.account, props.memberRole),
      ...(props.externalId ? { external_id: props.externalId } : {}),
    };
  }

  private allow(props: FunctionsProps): void {
    const accounts = new Set(props.units.flatMap((unit) => (unit.account ? [unit.account] : [])));
    if (accounts.size > 0) {
      this.function.addToRolePolicy(
        new PolicyStatement({
          sid: 'ReadMemberAccounts',
          actions: ['sts:AssumeRole'],
          resources: [...accounts].map((account) => memberRoleArn(this, account, props.memberRole)),
        }),
      );
    }
    this.function.addToRolePolicy(
      new PolicyStatement({ sid: 'Look', actions: catalog.read_actions, resources: ['*'] }),
    );
    this.function.addToRolePolicy(
      new PolicyStatement({
        sid: 'PublishOurMetrics',
        actions: ['cloudwatch:PutMetricData'],
        resources: ['*'],
        conditions: { StringEquals: { 'cloudwatch:namespace': NAMESPACE } },
      }),
    );
    this.function.addToRolePolicy(
      new PolicyStatement({
        sid: 'MakeOurAlarms',
        actions: ['cloudwatch:PutMetricAlarm'],
        resources: [ownAlarms(this, props.deployment)],
        // An alarm can stop or terminate an instance: ours may only send a message, and to our own topics.
        conditions: {
          'ForAllValues:StringEquals': {
            'cloudwatch:AlarmActions': [props.topics.page.topicArn, props.topics.notice.topicArn],
          },
        },
      }),
    );
    this.function.addToRolePolicy(deleteOwnAlarms(this, props.deployment));
    this.function.addToRolePolicy(
      new PolicyStatement({
        sid: 'SeeThatTheTopicsAreThere',
        actions: ['sns:GetTopicAttributes'],
        resources: [props.topics.page.topicArn, props.topics.notice.topicArn],
      }),
    );
    props.topics.events.grantPublish(this.function);
    props.topics.key.grant(this.function, 'kms:Decrypt', 'kms:GenerateDataKey*');
  }
}

/** `222222222222-us-east-1`, or the region alone. */
export function unitId(unit: WatchedUnit): string {
  return [unit.account, unit.region].filter(Boolean).join('-');
}

function memberRoleArn(scope: Construct, account: string, role: string): string {
  return Stack.of(scope).formatArn({ service: 'iam', region: '', account, resource: 'role', resourceName: role });
}

/** The address of the deployment's own dashboard, in the partition's own console. */
function dashboardUrl(scope: Construct, deployment: string): string {
  const { region } = Stack.of(scope);
  const known = Token.isUnresolved(region) ? '' : region;
  const host = known.startsWith('cn-')
    ? 'console.amazonaws.cn'
    : known.startsWith('us-gov-') ? 'console.amazonaws-us-gov.com' : 'console.aws.amazon.com';
  return `https://${host}/cloudwatch/home?region=${region}#dashboards/dashboard/burstwatch-${deployment}`;
}

/** A function of the package, with a role and a log group of its own and no managed policy. */
export function makeFunction(
  scope: Construct,
  id: string,
  props: FunctionsProps,
  own: {
    readonly handler: string;
    readonly description: string;
    readonly timeout: Duration;
    readonly environment?: Record<string, string>;
  },
): LambdaFn {
  const logGroup = new LogGroup(scope, `${id}Logs`, {
    retention: props.logRetention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  const settings = Object.entries(props.settings).map(([name, value]) => [`BURSTWATCH_${name.toUpperCase()}`, value]);
  const made = new LambdaFn(scope, id, {
    runtime: new Runtime(PYTHON, RuntimeFamily.PYTHON),
    architecture: props.architecture,
    code: props.code,
    handler: own.handler,
    description: own.description,
    memorySize: MEMORY_MIB,
    timeout: own.timeout,
    role,
    logGroup,
    environment: {
      ...Object.fromEntries(settings),
      BURSTWATCH_DEPLOYMENT: props.deployment,
      ...own.environment,
    },
  });
  Validations.of(made).acknowledge({
    id: 'AwsSolutions::AwsSolutions-L1',
    reason: `${PYTHON} is supported by AWS until 2029 and is the newest that aws-lambda-powertools is tested on`,
  });
  return made;
}

/** `*` is the only resource that AWS takes for these calls. */
export function acknowledgeReads(fn: LambdaFn, actions: readonly string[]): void {
  Validations.of(roleOf(fn)).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: `AWS has no resource-level permission for: ${actions.join(', ')}`,
  });
}

/** The alarms that sweeps make are named after volumes: only the beginning of the name is known. */
export function acknowledgeOwnAlarms(fn: LambdaFn, deployment: string): void {
  const stack = Stack.of(fn);
  // cdk-nag prints what is not known before deployment as the pseudo parameter's name.
  const known = (value: string, name: string) => (Token.isUnresolved(value) ? `<AWS::${name}>` : value);
  const where = [known(stack.partition, 'Partition'), 'cloudwatch', known(stack.region, 'Region'), known(stack.account, 'AccountId')];
  Validations.of(roleOf(fn)).acknowledge({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::arn:${where.join(':')}:alarm:burstwatch/${deployment}/*]`,
    reason: 'the alarms are named after volumes that are not known at deployment; all begin with this prefix',
  });
}

function roleOf(fn: LambdaFn): Construct {
  return fn.role as IRole & Construct;
}

export function deleteOwnAlarms(scope: Construct, deployment: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'DeleteOurAlarms',
    effect: Effect.ALLOW,
    actions: ['cloudwatch:DeleteAlarms'],
    resources: [ownAlarms(scope, deployment)],
  });
}

function ownAlarms(scope: Construct, deployment: string): string {
  return Stack.of(scope).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: `burstwatch/${deployment}/*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
