import { ArnFormat, type Duration, RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type Code, Function as LambdaFn, Runtime, RuntimeFamily } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };
import { MEMORY_MIB, NAMESPACE, PYTHON, type ResolvedProps } from './props.ts';
import type { Topics } from './topics.ts';

export interface FunctionsProps extends ResolvedProps {
  readonly code: Code;
  readonly topics: Topics;
}

/** A role and a log group, for one function or several alike, and no managed policy. */
export interface Footing {
  readonly role: Role;
  readonly logGroup: LogGroup;
}

export function makeFooting(scope: Construct, id: string, props: FunctionsProps): Footing {
  const logGroup = new LogGroup(scope, `${id}Logs`, {
    retention: props.logRetention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  return { role, logGroup };
}

/** A function of the package. */
export function makeFunction(
  scope: Construct,
  id: string,
  props: FunctionsProps,
  own: Footing & {
    readonly handler: string;
    readonly description: string;
    readonly timeout: Duration;
    readonly memoryMib?: number;
    readonly environment?: Record<string, string>;
  },
): LambdaFn {
  const settings = Object.entries(props.settings).map(([name, value]) => [`BURSTWATCH_${name.toUpperCase()}`, value]);
  const made = new LambdaFn(scope, id, {
    runtime: new Runtime(PYTHON, RuntimeFamily.PYTHON),
    architecture: props.architecture,
    code: props.code,
    handler: own.handler,
    description: own.description,
    memorySize: own.memoryMib ?? MEMORY_MIB,
    timeout: own.timeout,
    role: own.role,
    logGroup: own.logGroup,
    environment: {
      ...Object.fromEntries(settings),
      BURSTWATCH_DEPLOYMENT: props.deployment,
      ...own.environment,
    },
  });
  Validations.of(made).acknowledge({
    id: 'AwsSolutions::AwsSolutions-L1',
    reason: `${PYTHON} is supported by AWS until 2029 and is the newest that the functions have been tried on`,
  });
  return made;
}

/** `*` is the only resource that AWS takes for these calls. */
export function acknowledgeReads(role: Role, actions: readonly string[]): void {
  Validations.of(role).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
    reason: `AWS has no resource-level permission for: ${actions.join(', ')}`,
  });
}

/** Who publishes to an encrypted topic uses its key, whose call has two forms. */
export function acknowledgeKey(role: Role): void {
  Validations.of(role).acknowledge({
    id: 'AwsSolutions::AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
    reason: 'the two forms of one call, on one key',
  });
}

/** The alarms that sweeps make are named after volumes: only the beginning and the end of the name are known. */
export function acknowledgeOwnAlarms(role: Role, deployment: string, { withHeartbeats = false } = {}): void {
  const stack = Stack.of(role);
  // cdk-nag prints what is not known before deployment as the pseudo parameter's name.
  const known = (value: string, name: string) => (Token.isUnresolved(value) ? `<AWS::${name}>` : value);
  const where = [
    known(stack.partition, 'Partition'),
    'cloudwatch',
    known(stack.region, 'Region'),
    known(stack.account, 'AccountId'),
  ];
  const named = Token.isUnresolved(deployment) ? '<Deployment>' : deployment;
  for (const pattern of [...alarmPatterns(named), ...(withHeartbeats ? [`${heartbeatPrefix(named)}*`] : [])]) {
    Validations.of(role).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::arn:${where.join(':')}:alarm:${pattern}]`,
      reason: 'the alarms are named after volumes that are not known at deployment; all have names of this pattern',
    });
  }
}

export const PUBLISHING = 'cloudwatch:PutMetricData, which takes no resource; a condition limits it to our namespace';

export function publishOwnMetrics(): PolicyStatement {
  return new PolicyStatement({
    sid: 'PublishOurMetrics',
    actions: ['cloudwatch:PutMetricData'],
    resources: ['*'],
    conditions: { StringEquals: { 'cloudwatch:namespace': NAMESPACE } },
  });
}

export function deleteOwnAlarms(scope: Construct, deployment: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'DeleteOurAlarms',
    effect: Effect.ALLOW,
    actions: ['cloudwatch:DeleteAlarms'],
    resources: ownAlarms(scope, deployment),
  });
}

/** The alarms whose text the sweep writes, without the beginning of their names. */
export const STANDBY = Object.keys(catalog.standby_metrics);

/** Of the home unit, and of the others; then the names that both had until December 2026. */
function alarmPatterns(deployment: string): string[] {
  return [
    `burstwatch.*/${deployment}`,
    `burstwatch@*/${deployment}`,
    `burstwatch/${deployment}/*`,
    `burstwatch/${deployment}@*`,
  ];
}

/** The alarms that exist since the deployment and whose text the sweep writes. */
export function standbyAlarms(scope: Construct, deployment: string): string[] {
  return STANDBY.map((name) =>
    Stack.of(scope).formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: `burstwatch-${deployment}-${name}`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  );
}

/** The alarms on the heartbeats of all units and shards. */
export function heartbeatAlarms(scope: Construct, deployment: string): string {
  return Stack.of(scope).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: `${heartbeatPrefix(deployment)}*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

/** How the names of the alarms on heartbeats begin: what follows is a unit or a shard. */
export function heartbeatPrefix(deployment: string): string {
  return `burstwatch-${deployment}-no-completed-sweep`;
}

export function ownAlarms(scope: Construct, deployment: string): string[] {
  return alarmPatterns(deployment).map((pattern) =>
    Stack.of(scope).formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: pattern,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  );
}
