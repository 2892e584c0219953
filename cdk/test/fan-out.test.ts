import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Template } from 'aws-cdk-lib/assertions';
import { flat, list, MEMBERS, synthesise, target } from './synthesise.ts';

test('each unit is told to its function as the constant input of a rule', () => {
  const { template: made } = synthesise(MEMBERS);
  const inputs = targetsOf(made).map((one) => JSON.parse(flat(one.Input)).unit);
  const role = 'arn:aws:iam::222222222222:role/burstwatch-member';
  assert.deepEqual(inputs, [
    {},
    { region: 'eu-west-1' },
    { account: '222222222222', region: 'us-east-1', role_arn: role, external_id: 'watch-me' },
    { account: '222222222222', region: 'eu-west-1', role_arn: role, external_id: 'watch-me' },
  ]);
});

test('each unit is missed by an alarm that names it', () => {
  const { template: made } = synthesise(MEMBERS);
  const missed = Object.values(made.findResources('AWS::CloudWatch::Alarm'))
    .filter((alarm) => alarm.Properties.MetricName === 'SweepCompleted')
    .map((alarm) => [
      alarm.Properties.AlarmName,
      alarm.Properties.Dimensions.find((one: any) => one.Name === 'Unit').Value,
    ]);
  assert.deepEqual(missed, [
    ['burstwatch-burstwatch-no-completed-sweep', '111122223333/eu-central-1'],
    ['burstwatch-burstwatch-no-completed-sweep-eu-west-1', '111122223333/eu-west-1'],
    ['burstwatch-burstwatch-no-completed-sweep-222222222222-us-east-1', '222222222222/us-east-1'],
    ['burstwatch-burstwatch-no-completed-sweep-222222222222-eu-west-1', '222222222222/eu-west-1'],
  ]);
});

function targetsOf(made: Template): any[] {
  return Object.values(made.findResources('AWS::Events::Rule')).flatMap((rule) => rule.Properties.Targets);
}

const HUGE = {
  units: 'eu-west-1,222222222222/us-east-1',
  shards: 'home=2,222222222222/us-east-1=4',
  externalId: 'watch-me',
};
const IDS = ['1of2', '2of2', 'eu-west-1', ...[1, 2, 3, 4].map((number) => `222222222222-us-east-1-${number}of4`)];

test('each shard has a function of its own, as only one that always sweeps the same remembers it', () => {
  const { template: made } = synthesise({ ...HUGE, memoryMib: 1024 });
  const functions = Object.entries(
    made.findResources('AWS::Lambda::Function', { Properties: { Handler: 'lambdas.sweep.handler' } }),
  );
  const targets = targetsOf(made);
  assert.equal(functions.length, IDS.length);
  assert.deepEqual(targets.map((one) => target(one.Arn)).sort(), functions.map(([id]) => id).sort());
  assert.deepEqual(
    targets.map((one) => JSON.parse(flat(one.Input)).unit).map(({ region, shard }) => [region, shard]),
    [
      [undefined, '1/2'],
      [undefined, '2/2'],
      ['eu-west-1', undefined],
      ...[1, 2, 3, 4].map((number) => ['us-east-1', `${number}/4`]),
    ],
  );
  assert.equal(new Set(functions.map(([, fn]) => JSON.stringify(fn.Properties.Role))).size, 1);
  for (const [, fn] of functions) assert.equal(fn.Properties.MemorySize, 1024);
  assert.equal(Object.keys(made.findResources('AWS::Lambda::EventInvokeConfig')).length, IDS.length);
});

for (const [context, functions] of [
  [HUGE, IDS],
  [{ ...HUGE, fanOut: 'queue' }, ['']],
] as const) {
  test(`each shard is missed by an alarm, and each function watched (${JSON.stringify(context)})`, () => {
    const { template: made } = synthesise(context);
    const names = Object.values(made.findResources('AWS::CloudWatch::Alarm')).map(
      (alarm) => alarm.Properties.AlarmName as string,
    );
    const of = (what: string) =>
      names.filter((name) => name.includes(what)).map((name) => name.replace(`burstwatch-burstwatch-${what}`, ''));
    assert.deepEqual(of('no-completed-sweep').sort(), IDS.map((id) => `-${id}`).sort());
    for (const what of ['function-errors', 'function-throttles', 'function-slow']) {
      assert.deepEqual(of(what).sort(), functions.map((id) => (id ? `-${id}` : '')).sort());
    }
    const units = Object.values(
      made.findResources('AWS::CloudWatch::Alarm', { Properties: { MetricName: 'SweepCompleted' } }),
    ).map((alarm) => alarm.Properties.Dimensions.find((one: any) => one.Name === 'Unit').Value);
    assert.ok(
      units.includes('111122223333/eu-central-1/2/2') &&
        units.includes('222222222222/us-east-1/4/4') &&
        units.includes('111122223333/eu-west-1'),
    );
  });
}

test('a queue lets the schedules send by one statement, however many they are', () => {
  const regions = [
    'us-east-1',
    'us-east-2',
    'us-west-1',
    'us-west-2',
    'eu-west-1',
    'eu-west-2',
    'eu-west-3',
    'eu-north-1',
    'eu-south-1',
    'ap-south-1',
    'ap-northeast-1',
    'ap-northeast-2',
    'ap-southeast-1',
    'ca-central-1',
    'sa-east-1',
  ];
  for (const [fanOut, accounts] of [
    ['functions', 3],
    ['queue', 16],
  ] as const) {
    const units = regions.flatMap((name) =>
      Array.from({ length: accounts }, (_, number) => `${222222222222 + number}/${name}`),
    );
    const { template: made } = synthesise({
      fanOut,
      units: units.join(','),
      externalId: 'watch-me',
      dashboard: 'true',
    });
    assert.equal(targetsOf(made).length, units.length + 1);
    const policies = Object.values(made.findResources('AWS::SQS::QueuePolicy'));
    assert.equal(policies.length, fanOut === 'queue' ? 2 : 1);
    for (const policy of policies) {
      const { Statement } = policy.Properties.PolicyDocument;
      const sends = Statement.filter((one: any) => list(one.Action).includes('sqs:SendMessage'));
      assert.deepEqual(
        sends.map((one: any) => one.Principal),
        [{ Service: 'events.amazonaws.com' }],
      );
      const rules = list<any>(sends[0].Condition.ArnEquals['aws:SourceArn']).map(target);
      assert.deepEqual(rules.sort(), Object.keys(made.findResources('AWS::Events::Rule')).sort());
      // 20 statements and 8 KiB is what SQS takes; an ARN of a rule is at most 130 long.
      assert.ok(Statement.length <= 3 && rules.length * 130 < 7_500, `${rules.length} rules`);
    }
    assert.ok(Object.keys(made.toJSON().Resources).length <= 500);
    const [dashboard] = Object.values(made.findResources('AWS::CloudWatch::Dashboard'));
    const body = flat(dashboard!.Properties.DashboardBody);
    for (const widget of JSON.parse(body).widgets) assert.ok((widget.properties.alarms ?? []).length <= 100);
  }
});

test('the function of each part can be found among the outputs', () => {
  const outputs = Object.keys(synthesise(HUGE).template.toJSON().Outputs).filter((name) =>
    name.includes('SweepFunctionName'),
  );
  assert.deepEqual(
    outputs.map((name) => name.replace(/^.*SweepFunctionName/, '').slice(0, -8)).sort(),
    IDS.map((id) => id.replaceAll('-', '')).sort(),
  );
});

test('the rule that starts each part can be found among the outputs', () => {
  const template = synthesise(HUGE).template.toJSON();
  const rules = Object.entries<any>(template.Outputs).filter(([name]) => name.includes('RuleName'));
  assert.deepEqual(
    rules.map(([, { Description }]) => Description),
    [`starts ${['1of2', '2of2', 'eu-west-1'].concat(IDS.slice(3, 5)).join(', ')}`, `starts ${IDS.slice(5).join(', ')}`],
  );
  for (const [, { Value, Description }] of rules) {
    assert.match(
      template.Resources[Value.Ref].Properties.Description,
      new RegExp(`sweep ${Description.replace('starts ', '')}$`),
    );
  }
});

test('through a queue a few take the sweeps from it, and one that fails costs no other', () => {
  const { template: made } = synthesise({ ...HUGE, fanOut: 'queue', concurrency: '7', sweepsPerInvocation: 3 });
  const [[fnId]] = Object.entries(
    made.findResources('AWS::Lambda::Function', { Properties: { Handler: 'lambdas.sweep.handler' } }),
  ) as any;
  made.resourceCountIs('AWS::Lambda::EventInvokeConfig', 0);
  const [mapping] = Object.values(made.findResources('AWS::Lambda::EventSourceMapping'));
  const { FunctionName, EventSourceArn, BatchSize, ScalingConfig, FunctionResponseTypes } = mapping!.Properties;
  assert.equal(target(FunctionName), fnId);
  assert.deepEqual(
    [BatchSize, ScalingConfig, FunctionResponseTypes],
    [3, { MaximumConcurrency: 7 }, ['ReportBatchItemFailures']],
  );
  const queue = made.toJSON().Resources[target(EventSourceArn)].Properties;
  assert.ok(queue.SqsManagedSseEnabled && queue.VisibilityTimeout > 50);
  assert.ok(queue.MessageRetentionPeriod > queue.VisibilityTimeout * queue.RedrivePolicy.maxReceiveCount);
  const targets = Object.values(made.findResources('AWS::Events::Rule')).map((rule) => rule.Properties.Targets);
  assert.deepEqual(
    targets.map((some) => some.length),
    [5, 2],
  );
  for (const one of targets.flat()) {
    assert.equal(target(one.Arn), target(EventSourceArn));
    assert.deepEqual(one.RetryPolicy, { MaximumRetryAttempts: 1, MaximumEventAgeInSeconds: 60 });
  }
  assert.deepEqual(
    targets.flat().map((one) => JSON.parse(flat(one.Input)).unit.shard),
    ['1/2', '2/2', undefined, '1/4', '2/4', '3/4', '4/4'],
  );
  // Both go before the alarms that sweeps made are deleted.
  const [cleanup] = Object.keys(made.findResources('Custom::BurstwatchAlarms'));
  for (const type of ['AWS::Events::Rule', 'AWS::Lambda::EventSourceMapping']) {
    for (const starter of Object.values(made.findResources(type))) assert.ok(starter.DependsOn.includes(cleanup));
  }
});
