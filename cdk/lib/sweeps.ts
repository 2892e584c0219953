import { Duration, Stack, Token, Validations } from 'aws-cdk-lib';
import { type IRuleTarget, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction, SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, type Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, type Function as LambdaFn } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };
import {
  PUBLISHING,
  publishOwnMetrics,
  acknowledgeKey,
  acknowledgeOwnAlarms,
  acknowledgeReads,
  deleteOwnAlarms,
  type Footing,
  type FunctionsProps,
  makeFooting,
  makeFunction,
  ownAlarms,
  standbyAlarms,
  heartbeatAlarms,
} from './functions.ts';
import { acknowledgeRolesOf, assumeRolesOf } from './finder.ts';
import { memberRoleArn, type Part, partEvent, partId, partName, partsOf } from './parts.ts';
import { dashboardName, sweepTimeout } from './props.ts';

const EVENT_AGE = Duration.seconds(60);
/** As many as EventBridge takes. */
const TARGETS_OF_A_RULE = 5;
/** CDK moves statements to managed policies where a role has many, and splits none. With the longest role names, so many accounts fit into one. */
const ACCOUNTS_PER_STATEMENT = 50;

interface HandOver {
  readonly retryAttempts: number;
  readonly maxEventAge: Duration;
  readonly deadLetterQueue: IQueue;
}

/** A schedule, and the names of the parts whose sweeps it starts. */
export interface Starter {
  readonly rule: Rule;
  readonly starts: string;
}

/** A function that sweeps, and what tells it from the others in the name of an alarm. */
export interface Sweeper {
  readonly id: string;
  readonly function: LambdaFn;
}

/**
 * The sweeps, what starts them, and where an invocation ends up that could not be handed over.
 *
 * By default each unit and shard has a function of its own, for what one remembers saves most of the requests, and
 * only a function that always sweeps the same remembers it. Through a queue a few sweep many units between them.
 */
export class Sweeps extends Construct {
  readonly sweepers: readonly Sweeper[];
  readonly deadLetters: Queue;
  readonly rules: readonly Starter[];
  /** All that starts sweeps. */
  readonly starters: readonly Construct[];
  readonly logGroup: LogGroup;
  /** What names the units to sweep, where there is one. */
  readonly queue: Queue | undefined;

  constructor(scope: Construct, id: string, props: FunctionsProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const footing = makeFooting(this, 'Function', props);
    this.logGroup = footing.logGroup;
    const parts = partsOf(props);
    const made =
      props.fanOut === 'queue' ? this.byQueue(parts, footing, props) : this.byFunctions(parts, footing, props);
    this.sweepers = made.sweepers;
    this.rules = made.rules;
    this.queue = made.queue;
    this.starters = [...made.rules.map(({ rule }) => rule), ...made.others];
    this.allow(footing.role, props);
  }

  private byFunctions(parts: readonly Part[], footing: Footing, props: FunctionsProps) {
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions::AwsSolutions-SQS3',
      reason: 'this queue is the dead-letter queue itself, and an alarm watches its depth',
    });
    const sweepers = parts.map((part) => {
      const own = partId(part);
      const fn = this.sweepFunction(`Function${own}`, partName(part), footing, props);
      // A sweep that is late is worthless: the next one is due already. So nothing is tried again.
      fn.configureAsyncInvoke({
        retryAttempts: 0,
        maxEventAge: EVENT_AGE,
        onFailure: new SqsDestination(this.deadLetters),
      });
      return { id: own, function: fn };
    });
    const targets = sweepers.map(
      ({ function: fn }, number) =>
        (handOver: HandOver) =>
          new LambdaFunction(fn, { event: partInput(this, parts[number]!, props), ...handOver }),
    );
    return { sweepers, rules: this.schedule(parts, targets, [], props), others: [], queue: undefined };
  }

  private byQueue(parts: readonly Part[], footing: Footing, props: FunctionsProps) {
    const timeout = sweepTimeout(props);
    const queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // What waits for longer than a period is left out by the function, and counted.
      retentionPeriod: Duration.hours(1),
      visibilityTimeout: timeout.plus(timeout),
      // A later try is late unless the period is long. It says that the first one failed, and ends here.
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 3 },
    });
    const fn = this.sweepFunction('Function', 'what a queue names', footing, props);
    queue.grantConsumeMessages(footing.role);
    const mapping = new EventSourceMapping(this, 'Mapping', {
      target: fn,
      eventSourceArn: queue.queueArn,
      batchSize: props.sweepsPerInvocation,
      maxConcurrency: props.concurrency,
      reportBatchItemFailures: true,
    });
    mapping.node.addDependency(footing.role); // or it may not receive yet
    const known = withoutPolicy(this, 'KnownQueue', queue);
    const targets = parts.map(
      (part) => (handOver: HandOver) => new SqsQueue(known, { message: partInput(this, part, props), ...handOver }),
    );
    return {
      sweepers: [{ id: '', function: fn }],
      rules: this.schedule(parts, targets, [queue], props),
      others: [mapping],
      queue,
    };
  }

  /** Rules that start all of them each period, and may send to the queues. */
  private schedule(
    parts: readonly Part[],
    targets: readonly ((handOver: HandOver) => IRuleTarget)[],
    queues: readonly Queue[],
    props: FunctionsProps,
  ): Starter[] {
    const handOver = {
      retryAttempts: 1,
      maxEventAge: EVENT_AGE,
      deadLetterQueue: withoutPolicy(this, 'KnownDeadLetters', this.deadLetters),
    };
    const rules: Starter[] = [];
    for (let first = 0; first < targets.length; first += TARGETS_OF_A_RULE) {
      const last = first + TARGETS_OF_A_RULE;
      const starts = parts.slice(first, last).map(partName).join(', ');
      const rule = new Rule(this, `Rule${rules.length || ''}`, {
        description: `burstwatch ${props.deployment}: sweep ${starts}`,
        schedule: Schedule.rate(props.schedule),
        targets: targets.slice(first, last).map((target) => target(handOver)),
      });
      rules.push({ rule, starts });
    }
    for (const queue of [this.deadLetters, ...queues]) {
      queue.addToResourcePolicy(
        new PolicyStatement({
          sid: 'SchedulesMaySend',
          principals: [new ServicePrincipal('events.amazonaws.com')],
          actions: ['sqs:SendMessage'],
          resources: [queue.queueArn],
          conditions: { ArnEquals: { 'aws:SourceArn': rules.map(({ rule }) => rule.ruleArn) } },
        }),
      );
    }
    return rules;
  }

  private sweepFunction(id: string, what: string, footing: Footing, props: FunctionsProps): LambdaFn {
    return makeFunction(this, id, props, {
      ...footing,
      handler: 'lambdas.sweep.handler',
      description: `burstwatch: looks at every volume (${what}), publishes what runs out, keeps the alarms`,
      timeout: sweepTimeout(props),
      memoryMib: props.memoryMib,
      environment: {
        BURSTWATCH_SWEEP_PERIOD_S: `${props.schedule.toSeconds()}`,
        BURSTWATCH_PAGE_TOPIC_ARN: props.topics.page.topicArn,
        BURSTWATCH_NOTICE_TOPIC_ARN: props.topics.notice.topicArn,
        BURSTWATCH_EVENTS_TOPIC_ARN: props.topics.events.topicArn,
        BURSTWATCH_DASHBOARD_URL:
          props.settings['dashboard_url'] ?? (props.dashboard ? dashboardUrl(this, props.deployment) : ''),
      },
    });
  }

  private allow(role: Role, props: FunctionsProps): void {
    const accounts = [...new Set(props.units.flatMap((unit) => (unit.account ? [unit.account] : [])))];
    for (let first = 0; first < accounts.length; first += ACCOUNTS_PER_STATEMENT) {
      const some = accounts.slice(first, first + ACCOUNTS_PER_STATEMENT);
      role.addToPolicy(
        new PolicyStatement({
          sid: `ReadMemberAccounts${first || ''}`,
          actions: ['sts:AssumeRole'],
          resources: some.map((account) => memberRoleArn(this, account, props.memberRole)),
        }),
      );
    }
    if (props.organization.length > 0) {
      role.addToPolicy(assumeRolesOf(this, props));
      acknowledgeRolesOf(role, props);
    }
    role.addToPolicy(new PolicyStatement({ sid: 'Look', actions: catalog.read_actions, resources: ['*'] }));
    role.addToPolicy(publishOwnMetrics());
    role.addToPolicy(
      new PolicyStatement({
        sid: 'MakeOurAlarms',
        actions: ['cloudwatch:PutMetricAlarm'],
        resources: [...ownAlarms(this, props.deployment), ...standbyAlarms(this, props.deployment)],
        // An alarm can stop or terminate an instance: ours may only send a message, and to our own topics.
        conditions: {
          'ForAllValues:StringEquals': {
            'cloudwatch:AlarmActions': [props.topics.page.topicArn, props.topics.notice.topicArn],
          },
        },
      }),
    );
    role.addToPolicy(deleteOwnAlarms(this, props.deployment));
    role.addToPolicy(
      new PolicyStatement({
        // Which resources an alarm stands for is kept in its tags, and which kinds were listed in those of the heartbeat's.
        sid: 'KeepWhomAnAlarmStandsFor',
        actions: ['cloudwatch:ListTagsForResource', 'cloudwatch:TagResource'],
        resources: [
          ...ownAlarms(this, props.deployment),
          ...standbyAlarms(this, props.deployment),
          heartbeatAlarms(this, props.deployment),
        ],
      }),
    );
    role.addToPolicy(
      new PolicyStatement({
        sid: 'SeeWhoHearsTheTopics',
        actions: ['sns:ListSubscriptionsByTopic'],
        resources: [props.topics.page.topicArn, props.topics.notice.topicArn],
      }),
    );
    props.topics.events.grantPublish(role);
    props.topics.key.grant(role, 'kms:Decrypt', 'kms:GenerateDataKey*');
    acknowledgeReads(role, [...catalog.read_actions, PUBLISHING]);
    acknowledgeOwnAlarms(role, props.deployment, { withHeartbeats: true });
    acknowledgeKey(role);
  }
}

/** The same queue, to which no rule adds a statement of its own: a queue's policy has room for twenty. */
function withoutPolicy(scope: Construct, id: string, queue: Queue): IQueue {
  return Queue.fromQueueAttributes(scope, id, { queueArn: queue.queueArn });
}

function partInput(scope: Construct, part: Part, props: FunctionsProps): RuleTargetInput {
  return RuleTargetInput.fromObject(partEvent(scope, part, props));
}

/** The address of the deployment's own dashboard, in the partition's own console. */
function dashboardUrl(scope: Construct, deployment: string): string {
  const { region } = Stack.of(scope);
  const known = Token.isUnresolved(region) ? '' : region;
  const host = known.startsWith('cn-')
    ? 'console.amazonaws.cn'
    : known.startsWith('us-gov-')
      ? 'console.amazonaws-us-gov.com'
      : 'console.aws.amazon.com';
  return `https://${host}/cloudwatch/home?region=${region}#dashboards/dashboard/${dashboardName(scope, deployment)}`;
}
