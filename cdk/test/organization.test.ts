import assert from 'node:assert/strict';
import { test } from 'node:test';
import catalog from '../catalog.json' with { type: 'json' };
import { estimateFixedCost, fixedUsd, usdOfFoundUnit } from '../lib/cost.ts';
import { build, flat, list, synthesise } from './synthesise.ts';

const ORGANIZATION = {
  units: 'eu-west-1,o-exampleorgid/ou-ab12-cdef3456,o-exampleorgid/tag:env=prod',
  externalId: 'watch-me',
  regions: 'eu-west-1,us-east-1',
};
const { template, stack, props } = synthesise(ORGANIZATION);

function rules(): any[] {
  return Object.values(template.findResources('AWS::Events::Rule')).map((rule) => rule.Properties);
}

function statements(of: string): any[] {
  return Object.entries(template.findResources('AWS::IAM::Policy'))
    .filter(([id]) => id.includes(of))
    .flatMap(([, policy]) => policy.Properties.PolicyDocument.Statement);
}

test('one rule asks the finder for the accounts, and leaves out what has a schedule of its own', () => {
  const rule = rules().find(({ Description }) => Description.includes('organisation'));
  assert.equal(rule.ScheduleExpression, 'rate(1 minute)');
  const event = JSON.parse(flat(rule.Targets[0].Input));
  assert.deepEqual(event.find.parts, ['o-exampleorgid/ou-ab12-cdef3456', 'o-exampleorgid/tag:env=prod']);
  assert.deepEqual(event.find.regions, ['eu-west-1', 'us-east-1']);
  assert.deepEqual(event.find.fixed, ['111122223333/eu-central-1', '111122223333/eu-west-1']);
  assert.equal(event.find.external_id, 'watch-me');
  assert.equal(event.find.role, 'burstwatch-member');
});

test('the roles of accounts that are found may be assumed in this organisation alone', () => {
  for (const part of ['Sweep', 'Finder']) {
    const assumed = statements(part).filter(({ Action }) => list(Action).includes('sts:AssumeRole'));
    assert.equal(assumed.length, 1, part);
    assert.match(flat(assumed[0].Resource), /:iam::\*:role\/burstwatch-member$/);
    assert.deepEqual(assumed[0].Condition, { StringEquals: { 'aws:ResourceOrgID': 'o-exampleorgid' } });
  }
});

test('the finder writes nothing but messages, its metrics, and who lets nobody in', () => {
  const writes = statements('Finder').flatMap(({ Action, Resource }) =>
    list(Action)
      .filter((action: string) => !/:(List|Describe|Assume)/.test(action))
      .map((action: string) => [action, Resource]),
  );
  const wild = writes.filter(([, resource]) => resource === '*').map(([action]) => action);
  assert.deepEqual(wild, ['cloudwatch:PutMetricData']);
  // CDK grants the two reads of a queue with the right to send to it.
  const own = [
    'cloudwatch:PutMetricAlarm',
    'cloudwatch:PutMetricData',
    'cloudwatch:TagResource',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
    'sqs:GetQueueAttributes',
    'sqs:GetQueueUrl',
    'sqs:SendMessage',
  ];
  assert.deepEqual([...new Set(writes.map(([action]) => action))].sort(), own);
});

test('all that are found have one alarm on their heartbeat, which pages, and cost no metric each', () => {
  const alarm = Object.values(template.findResources('AWS::CloudWatch::Alarm')).find(
    ({ Properties }) => Properties.AlarmName === 'burstwatch-burstwatch-no-completed-sweep-found',
  )!.Properties;
  assert.equal(alarm.TreatMissingData, 'breaching');
  const metrics = alarm.Metrics.filter((entry: any) => entry.MetricStat).map((entry: any) => [
    entry.MetricStat.Metric.MetricName,
    entry.MetricStat.Period,
  ]);
  assert.deepEqual(metrics.sort(), [
    ['UnitsCompleted', 300],
    ['UnitsFound', 300],
  ]);
  assert.match(JSON.stringify(alarm.AlarmActions), /Page/);
  const first = Object.values(template.findResources('Custom::BurstwatchAlarms'))[0]!.Properties.Units;
  assert.equal(first.at(-1), 'found');
});

test('the finder has the alarms of a function', () => {
  const names = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => Properties.AlarmName,
  );
  for (const what of ['function-errors', 'function-throttles', 'function-slow']) {
    assert.ok(names.includes(`burstwatch-burstwatch-${what}-finder`), what);
  }
});

test('synth says what each account and region that is found costs', () => {
  const usd = usdOfFoundUnit(props);
  assert.ok(usd > 0.3 && usd < 2, `${usd}`);
  assert.match(
    estimateFixedCost(stack, props),
    new RegExp(`each account and region that is found adds ${usd.toFixed(2)} USD`),
  );
  assert.match(estimateFixedCost(stack, props), /sweeps and 43200 searches for accounts/);
});

const REFUSED: [Record<string, unknown>, RegExp][] = [
  [{ units: 'o-x', externalId: 'watch-me' }, /units is "o-x"; allowed: an organisation such as/],
  [
    { units: 'o-exampleorgid/eu-west-1', externalId: 'watch-me' },
    /units is "o-exampleorgid\/eu-west-1"; allowed: an organisation/,
  ],
  [
    { units: 'o-exampleorgid,o-otherorgid0', externalId: 'watch-me' },
    /units names the organisations o-exampleorgid and o-otherorgid0; allowed: one/,
  ],
  [{ units: 'o-exampleorgid', externalId: 'watch-me', fanOut: 'functions' }, /fanOut is "functions"; allowed: queue/],
  [{ units: 'o-exampleorgid' }, /externalId is ""; allowed: the external id/],
  [
    { units: 'o-exampleorgid', externalId: 'watch-me', regions: 'eu-wst-1' },
    /regions has "eu-wst-1", which is no region of AWS \(did you mean eu-west-1\?\)/,
  ],
  [{ regions: 'eu-west-1' }, /regions is \["eu-west-1"\]; allowed: nothing, as units names no organisation/],
];
for (const [context, words] of REFUSED) {
  test(`${JSON.stringify(context)} is refused at synth`, () => {
    assert.throws(() => build(context), words);
  });
}

test('without an organisation nothing looks for one', () => {
  const { template: plain } = synthesise({ fanOut: 'queue' });
  assert.doesNotMatch(JSON.stringify(plain.toJSON()), /organizations:|ResourceOrgID|UnitsFound/);
});

test('`burstwatch scan --cost` and synth agree on the price of the accounts that are found', () => {
  const { stack, props } = synthesise({ units: 'o-exampleorgid', externalId: 'watch-me' });
  const synth = fixedUsd(stack, props) + catalog.bill.organization_units * usdOfFoundUnit(props);
  const scanned = Object.values(catalog.bill.organization).reduce((sum, usd) => sum + usd, 0);
  assert.equal(scanned.toFixed(2), synth.toFixed(2));
});
