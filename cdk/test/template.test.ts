import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Validations } from 'aws-cdk-lib';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import catalog from '../catalog.json' with { type: 'json' };
import { estimateFixedCost, fixedLines } from '../lib/cost.ts';
import { build, flat, list, MEMBERS, type Reference, type Resource, synthesise, target } from './synthesise.ts';

const { template, stack, props } = synthesise();
const resources: Record<string, Resource> = template.toJSON().Resources;
const ofType = (type: string) => Object.entries(resources).filter(([, resource]) => resource.Type === type);
const one = (type: string, where: (resource: Resource) => boolean = () => true) => {
  const found = ofType(type).filter(([, resource]) => where(resource));
  assert.equal(found.length, 1, `one ${type}`);
  return found[0]!;
};
const statements = (resource: Resource): any[] => resource.Properties.PolicyDocument.Statement;

test('CloudWatch may deliver each alarm: alarm, topic and key let it through', () => {
  const alarms = ofType('AWS::CloudWatch::Alarm');
  assert.ok(alarms.length >= 10);
  for (const [name, alarm] of alarms) {
    const actions = [...alarm.Properties.AlarmActions, ...alarm.Properties.OKActions];
    assert.equal(actions.length, 2, `${name} has an alarm and an OK action`);
    for (const action of actions) {
      const topicId = target(action);
      const topic = resources[topicId];
      assert.equal(topic?.Type, 'AWS::SNS::Topic');
      const keyId = target(topic!.Properties.KmsMasterKeyId);
      assert.equal(resources[keyId]?.Type, 'AWS::KMS::Key', `${topicId} uses a key of its own`);
      const useKey = statementsOf(resources[keyId]!.Properties.KeyPolicy).find(isForCloudWatch);
      assert.deepEqual(list(useKey?.Action).sort(), ['kms:Decrypt', 'kms:GenerateDataKey*']);
      assert.equal(useKey.Condition.StringEquals['aws:SourceAccount'], '111122223333');
      const [, policy] = one('AWS::SNS::TopicPolicy', (entry) => entry.Properties.Topics.map(target).includes(topicId));
      const publish = statements(policy).find(isForCloudWatch);
      assert.equal(publish?.Action, 'sns:Publish');
      assert.equal(target(publish.Resource), topicId);
      assert.equal(publish.Condition.StringEquals['aws:SourceAccount'], '111122223333');
      // Alarms of our names alone: those of sweeps begin with burstwatch. or burstwatch@, those of the stack with burstwatch-.
      assert.match(JSON.stringify(publish.Condition.ArnLike['aws:SourceArn']), /:alarm:burstwatch\*"/);
      assert.match(alarm.Properties.AlarmName, /^burstwatch-/);
    }
  }
});

test('the topics that the sweep puts on its alarms let CloudWatch through as well', () => {
  const [, fn] = one('AWS::Lambda::Function', (entry) => entry.Properties.Handler === 'lambdas.sweep.handler');
  const { BURSTWATCH_PAGE_TOPIC_ARN: page, BURSTWATCH_NOTICE_TOPIC_ARN: notice } = fn.Properties.Environment.Variables;
  assert.notEqual(target(page), target(notice));
  for (const topic of [target(page), target(notice)]) {
    const [, policy] = one('AWS::SNS::TopicPolicy', (entry) => entry.Properties.Topics.map(target).includes(topic));
    assert.ok(statements(policy).some(isForCloudWatch));
  }
});

test('nothing may be written without a resource or a condition that narrows it', () => {
  const reads = new Set([...catalog.read_actions]);
  for (const [name, policy] of ofType('AWS::IAM::Policy')) {
    for (const statement of statements(policy)) {
      const writes = list<string>(statement.Action).filter((action) => !reads.has(action));
      if (list(statement.Resource).includes('*') && writes.length > 0) {
        assert.deepEqual(writes, ['cloudwatch:PutMetricData'], name);
        assert.deepEqual(statement.Condition, { StringEquals: { 'cloudwatch:namespace': 'Burstwatch' } });
      }
      for (const action of writes) assert.ok(!action.endsWith(':*') && action !== '*', `${name}: ${action}`);
    }
  }
});

test('an alarm of the sweep can only send messages, to our own topics', () => {
  const all = ofType('AWS::IAM::Policy').flatMap(([, policy]) => statements(policy));
  const put = all.filter((statement) => list(statement.Action).includes('cloudwatch:PutMetricAlarm'));
  assert.equal(put.length, 1);
  const allowed = put[0].Condition['ForAllValues:StringEquals']['cloudwatch:AlarmActions'];
  assert.equal(list(allowed).length, 2);
  for (const action of list<Reference>(allowed)) assert.equal(resources[target(action)]?.Type, 'AWS::SNS::Topic');
  assert.match(JSON.stringify(put[0].Resource), /alarm:burstwatch\.\*\/burstwatch"/);
});

test('the sweep may read exactly what the catalog says, and roles have no managed policy', () => {
  const all = ofType('AWS::IAM::Policy').flatMap(([, policy]) => statements(policy));
  const look = all.find((statement) => statement.Sid === 'Look');
  assert.deepEqual([...look.Action].sort(), [...catalog.read_actions].sort());
  for (const [, role] of ofType('AWS::IAM::Role')) assert.equal(role.Properties.ManagedPolicyArns, undefined);
});

test('a late or failed sweep is not tried again, and is kept', () => {
  template.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    Targets: [
      Match.objectLike({
        RetryPolicy: { MaximumRetryAttempts: 1, MaximumEventAgeInSeconds: 60 },
        DeadLetterConfig: Match.anyValue(),
      }),
    ],
  });
  template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
    MaximumRetryAttempts: 0,
    MaximumEventAgeInSeconds: 60,
    DestinationConfig: { OnFailure: Match.anyValue() },
  });
  template.hasResourceProperties('AWS::Lambda::Function', {
    Handler: 'lambdas.sweep.handler',
    Timeout: 50,
    Architectures: ['arm64'],
  });
});

test('a sweep may take ten seconds less than its period, and 110 at most', () => {
  for (const [scheduleMinutes, seconds] of [
    [1, 50],
    [2, 110],
    [60, 110],
  ] as const) {
    const { template: made } = synthesise({ scheduleMinutes });
    made.hasResourceProperties('AWS::Lambda::Function', { Handler: 'lambdas.sweep.handler', Timeout: seconds });
    made.hasResourceProperties('AWS::CloudWatch::Alarm', { MetricName: 'Duration', Threshold: 800 * seconds });
    // The last sweep is waited out before its alarms are deleted.
    made.hasResourceProperties('Custom::BurstwatchAlarms', {
      Deployment: 'burstwatch',
      SettleSeconds: seconds,
      ServiceTimeout: `${seconds + 240}`,
    });
    made.hasResourceProperties('AWS::Lambda::Function', { Handler: 'lambdas.cleanup.handler', Timeout: seconds + 180 });
  }
});

test('no completed sweep for five periods pages, and so does no data', () => {
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'SweepCompleted',
    Namespace: 'Burstwatch',
    Statistic: 'Sum',
    Period: 60,
    EvaluationPeriods: 5,
    ComparisonOperator: 'LessThanThreshold',
    Threshold: 1,
    TreatMissingData: 'breaching',
  });
});

test('only the heartbeat takes missing data for bad news', () => {
  const breaching = ofType('AWS::CloudWatch::Alarm').filter(
    ([, alarm]) => alarm.Properties.TreatMissingData === 'breaching',
  );
  assert.deepEqual(
    breaching.map(([, alarm]) => alarm.Properties.MetricName),
    ['SweepCompleted'],
  );
});

test('on page are only alarms that no alarm of a volume stands for: nothing is watched, or nothing arrives', () => {
  const onPage = ofType('AWS::CloudWatch::Alarm')
    .filter(([, alarm]) => JSON.stringify(alarm.Properties.AlarmActions).includes('Page'))
    .map(([, alarm]) => alarm.Properties.AlarmName)
    .toSorted();
  assert.deepEqual(
    onPage,
    ['no-completed-sweep', 'not-paged', 'undelivered-events', 'undelivered-notice'].map(
      (name) => `burstwatch-burstwatch-${name}`,
    ),
  );
});

test('the two alarms that name what nobody hears begin at once, end when nothing is published, and the sweep may write only their text', () => {
  for (const [name, metric] of Object.entries(catalog.standby_metrics)) {
    const [[, alarm]] = ofType('AWS::CloudWatch::Alarm').filter(
      ([, one]) => one.Properties.MetricName === metric,
    ) as any;
    assert.equal(alarm.Properties.AlarmName, `burstwatch-burstwatch-${name}`);
    assert.equal(alarm.Properties.DatapointsToAlarm, 1);
    assert.equal(alarm.Properties.TreatMissingData, 'notBreaching');
  }
  const all = ofType('AWS::IAM::Policy').flatMap(([, policy]) => statements(policy));
  const put = all.find((statement) => list(statement.Action).includes('cloudwatch:PutMetricAlarm'));
  assert.match(JSON.stringify(put.Resource), /alarm:burstwatch-burstwatch-not-paged"/);
});

test('alarms of the stack are outside the prefix of those that sweeps make', () => {
  for (const [, alarm] of ofType('AWS::CloudWatch::Alarm'))
    assert.doesNotMatch(alarm.Properties.AlarmName, /^burstwatch\//);
});

/** The dashboard, which is off unless asked for. */
function dashboardOf(context: Record<string, unknown> = {}): any {
  const [found] = Object.values(
    synthesise({ dashboard: 'true', ...context }).template.findResources('AWS::CloudWatch::Dashboard'),
  );
  return found;
}

test('there is a dashboard only if somebody asks for it: then messages link to it, and its price is said', () => {
  assert.deepEqual(ofType('AWS::CloudWatch::Dashboard'), []);
  const linkOf = (made: ReturnType<typeof synthesise>) =>
    (
      Object.values(
        made.template.findResources('AWS::Lambda::Function', { Properties: { Handler: 'lambdas.sweep.handler' } }),
      ) as any[]
    )[0].Properties.Environment.Variables.BURSTWATCH_DASHBOARD_URL;
  assert.equal(linkOf(synthesise()), '');
  const asked = synthesise({ dashboard: 'true' });
  assert.match(JSON.stringify(linkOf(asked)), /#dashboards\/dashboard\/burstwatch-burstwatch-/);
  assert.doesNotMatch(estimateFixedCost(stack, props), /dashboard/);
  const said = estimateFixedCost(asked.stack, asked.props);
  assert.match(said, /3\.00 {2}1 dashboard/);
  addsUp(said);
});

test('every fleet metric that an alarm or the dashboard names is one that the sweep publishes', () => {
  const dashboard = dashboardOf();
  const named = ofType('AWS::CloudWatch::Alarm')
    .flatMap(([, alarm]) => [
      alarm.Properties,
      ...(alarm.Properties.Metrics ?? []).map((entry: any) => entry.MetricStat?.Metric ?? {}),
    ])
    .filter((metric) => metric.Namespace === 'Burstwatch')
    .map((metric) => metric.MetricName);
  const body = JSON.stringify(dashboard.Properties.DashboardBody);
  const shown = [...body.matchAll(/\\"Burstwatch\\",\\"(\w+)\\",\\"Deployment/g)].map((match) => match[1]!);
  assert.ok(named.length >= 6 && shown.length >= 6);
  for (const name of named)
    assert.ok(
      ['SweepCompleted', ...Object.values(catalog.standby_metrics), ...catalog.fleet_metrics].includes(name),
      name,
    );
  // A heartbeat is one of a unit: the deployment as a whole has none.
  for (const name of shown) assert.ok(catalog.fleet_metrics.includes(name), name);
});

test('the dashboard reads from what runs out to whether the monitor can be believed, and a search finds what comes later', () => {
  const dashboard = dashboardOf();
  const parts: (string | object)[] = dashboard.Properties.DashboardBody['Fn::Join'][1];
  const body = JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'x')).join(''));
  const rows = body.widgets.filter((widget: any) => /^## /.test(widget.properties.markdown ?? ''));
  assert.deepEqual(
    rows.map((row: any) => row.properties.markdown),
    ['## Now', '## Worst first', '## History', '## Monitor health'],
  );
  assert.deepEqual(
    rows.map((row: any) => row.y),
    rows.map((row: any) => row.y).toSorted((a: number, b: number) => a - b),
  );
  const searches = body.widgets
    .flatMap((widget: any) => widget.properties.metrics ?? [])
    .map(([metric]: any) => metric.expression)
    .filter((found?: string) => found && !/^m\w* \//.test(found));
  assert.equal(searches.length, 5);
  const [insights] = searches.filter((search: string) => search.startsWith('SELECT '));
  assert.match(insights, /^SELECT MIN\(BurstBalance\) .* ORDER BY MIN\(\) ASC LIMIT 10$/);
  for (const search of searches) if (search !== insights) assert.match(search, /^(SORT\(|SUM\()?SEARCH\('/);
  const tiles = body.widgets
    .filter((widget: any) => widget.properties.view === 'singleValue')
    .map((widget: any) => widget.properties.title);
  // Nobody counts hours in seconds.
  for (const widget of body.widgets) assert.doesNotMatch(widget.properties.title ?? '', /left \(seconds\)/);
  for (const search of searches) if (search.includes('"TimeToExhaustion"')) assert.match(search, / \/ 60$/);
  assert.deepEqual(tiles.slice(0, 3), ['Out of credits', 'Paging', 'Warnings']);
  for (const widget of body.widgets)
    assert.ok(widget.x + widget.width <= 24 && (widget.type === 'text' || widget.properties.title));
});

test('logs are kept for a month, all sweeps in one group', () => {
  for (const { template: made } of [synthesise(), synthesise({ shards: 4 })]) {
    const groups = Object.values(made.findResources('AWS::Logs::LogGroup'));
    for (const group of groups) assert.equal(group.Properties.RetentionInDays, 30);
    assert.equal(groups.length, 2);
    for (const fn of Object.values(made.findResources('AWS::Lambda::Function')))
      assert.ok(fn.Properties.LoggingConfig.LogGroup);
  }
});

test('on deletion the rule goes first, then the alarms that its sweeps made', () => {
  const [cleanup] = one('Custom::BurstwatchAlarms');
  const [, rule] = one('AWS::Events::Rule');
  assert.ok(rule.DependsOn?.includes(cleanup));
});

test('no unit is missed before its first sweep: the alarm comes after a first heartbeat of each', () => {
  const { template: made } = synthesise(MEMBERS);
  const [[id, first]] = Object.entries(made.findResources('Custom::BurstwatchAlarms')) as any;
  assert.equal(first.Properties.PeriodSeconds, 60);
  const missed = Object.values(
    made.findResources('AWS::CloudWatch::Alarm', { Properties: { MetricName: 'SweepCompleted' } }),
  ) as any[];
  const units = missed.map((alarm) => alarm.Properties.Dimensions.find((one: any) => one.Name === 'Unit').Value);
  assert.deepEqual(first.Properties.Units, units);
  for (const alarm of missed) {
    assert.ok(alarm.DependsOn.includes(id));
    assert.equal(alarm.Properties.EvaluationPeriods, first.Properties.Periods);
  }
});

test('the floor alarm is off unless asked for, and its price is said', () => {
  assert.ok(!JSON.stringify(ofType('AWS::CloudWatch::Alarm')).includes('GROUP BY VolumeId'));
  const floored = synthesise({ floor: 'true', floorPercent: '15' });
  floored.template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    Metrics: [
      {
        Expression: 'SELECT MIN(BurstBalance) FROM SCHEMA("AWS/EBS", VolumeId) GROUP BY VolumeId ORDER BY MIN() ASC',
        Id: 'floor',
        Period: 60,
        ReturnData: true,
      },
    ],
    Threshold: 15,
  });
  assert.match(estimateFixedCost(floored.stack, floored.props), /billed per volume: 0\.10 USD/);
});

test('an inbox is subscribed when an address is given', () => {
  synthesise({ alarmEmail: 'a@example.org' }).template.hasResourceProperties('AWS::SNS::Subscription', {
    Protocol: 'email',
    Endpoint: 'a@example.org',
  });
  assert.equal(ofType('AWS::SNS::Subscription').length, 0);
});

test('settings reach the function, from cdk.json and from the command line', () => {
  for (const settings of [{ lead_s: 600 }, 'lead_s=600']) {
    synthesise({ settings, deployment: 'two' }).template.hasResourceProperties('AWS::Lambda::Function', {
      Handler: 'lambdas.sweep.handler',
      Environment: { Variables: Match.objectLike({ BURSTWATCH_LEAD_S: '600', BURSTWATCH_DEPLOYMENT: 'two' }) },
    });
  }
});

for (const context of [
  {},
  { shards: 4, dashboard: 'true' },
  { fanOut: 'queue', shards: 4, units: 'eu-west-1,222222222222/us-east-1', externalId: 'watch-me' },
]) {
  test(`cdk-nag has nothing to say, and every acknowledgement takes effect (${JSON.stringify(context)})`, () => {
    const { app, stack: checked } = build(context);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
    const assembly = app.synth();
    const report = JSON.parse(readFileSync(join(assembly.directory, 'validation-report.json'), 'utf8'));
    const [nag] = report.pluginReports.filter((entry: any) => entry.pluginName === 'AwsSolutions');
    assert.equal(nag.conclusion, 'success');
    assert.deepEqual(nag.violations, []);
    const took = new Set(
      nag.suppressedViolations.map((entry: any) => `${entry.acknowledgedAt} ${entry.acknowledgedId}`),
    );
    const given = checked.node
      .findAll()
      .flatMap((construct) =>
        construct.node.metadata
          .filter((entry) => entry.type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
          .flatMap((entry) =>
            Object.entries(entry.data).map(([id, reason]) => ({ id, reason, at: construct.node.path })),
          ),
      );
    assert.ok(given.length >= 5);
    for (const { id, reason, at } of given) {
      assert.ok(String(reason).length > 20, `${id} has a reason`);
      assert.ok(took.has(`${at} ${id}`), `${id} at ${at} suppresses nothing`);
    }
  });
}

test('the estimate at synth names every part and adds up', () => {
  const queued = synthesise({ fanOut: 'queue', shards: 16, settings: { budget_usd_per_month: '9' } });
  const said = estimateFixedCost(queued.stack, queued.props);
  assert.match(said, new RegExp(`${catalog.fleet_metrics.length + 32} metrics`));
  assert.match(
    said,
    /691200 sweeps[\s\S]* 20\.74 {2}2073600 requests of PutMetricData and DescribeAlarms[\s\S]* 1\.09 {2}2721600 requests to the queue/,
  );
  for (const text of [said, estimateFixedCost(stack, props)]) addsUp(text);
});

test('`burstwatch scan --cost` has the same lines at the same price as the template', () => {
  const said = Object.fromEntries(fixedLines(stack, props).map(({ name, usd }) => [name, usd.toFixed(2)]));
  const scanned = Object.fromEntries(Object.entries(catalog.bill.fixed).map(([name, usd]) => [name, usd.toFixed(2)]));
  assert.deepEqual(scanned, said);
});

test('`burstwatch scan --cost` and synth agree on what is left after the free tier', () => {
  const paid = fixedLines(stack, props).reduce((sum, { paidUsd }) => sum + paidUsd, 0);
  assert.equal(catalog.bill.paid.toFixed(2), paid.toFixed(2));
});

test('an alarm on two metrics is charged as two, and what the sweeps write to the log is charged for', () => {
  const alarms = ofType('AWS::CloudWatch::Alarm');
  assert.match(
    estimateFixedCost(stack, props),
    new RegExp(`  ${alarms.length} alarms on ${alarms.length + 1} metrics\n`),
  );
  assert.match(estimateFixedCost(stack, props), /0\.08 {2}0\.2 GB of logs/);
});

test('whatever the template has is in the estimate, or is charged for by use, or is free', () => {
  const inTheEstimate = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::KMS::Key'];
  const byUse = ['AWS::Lambda::Function', 'AWS::Logs::LogGroup', 'AWS::SNS::Topic', 'AWS::SQS::Queue'];
  const free = [
    'AWS::CDK::Metadata',
    'AWS::CloudFormation::CustomResource',
    'AWS::Events::Rule',
    'AWS::IAM::Policy',
    'AWS::IAM::Role',
    'AWS::Lambda::EventInvokeConfig',
    'AWS::Lambda::EventSourceMapping',
    'AWS::Lambda::Permission',
    'AWS::SNS::Subscription',
    'AWS::SNS::TopicPolicy',
    'AWS::SQS::QueuePolicy',
    'Custom::BurstwatchAlarms',
  ];
  const known = new Set([...inTheEstimate, ...byUse, ...free]);
  for (const context of [
    {},
    { fanOut: 'queue', shards: 4, floor: 'true', dashboard: 'true', alarmEmail: 'a@example.org' },
  ]) {
    const types = Object.values(synthesise(context).template.toJSON().Resources).map((resource: any) => resource.Type);
    assert.deepEqual(
      [...new Set(types)].filter((type) => !known.has(type)),
      [],
    );
  }
});

function addsUp(text: string): void {
  const parts = [...text.matchAll(/^ +(\d+\.\d\d) {2}/gm)].map((match) => Number(match[1]));
  const last = text.split('\n').at(-1)!;
  const [total, paid] = [...last.matchAll(/(\d+\.\d\d)/g)].map((match) => Number(match[1]));
  assert.match(last, /^in all: /);
  assert.ok(parts.length >= 5);
  assert.ok(paid! < total!);
  assert.ok(Math.abs(total! - parts.reduce((sum, part) => sum + part, 0)) < 0.05, text);
}

function statementsOf(document: { Statement: any[] }): any[] {
  return document.Statement;
}

function isForCloudWatch(statement: any): boolean {
  return statement.Effect === 'Allow' && statement.Principal?.Service === 'cloudwatch.amazonaws.com';
}

test('the sweep may assume the member roles that it is told of, by name and once', () => {
  const { template: made } = synthesise(MEMBERS);
  const all = Object.values(made.findResources('AWS::IAM::Policy')).flatMap(
    (policy) => policy.Properties.PolicyDocument.Statement,
  );
  const assume = all.filter((statement: any) => list(statement.Action).includes('sts:AssumeRole'));
  assert.equal(assume.length, 1);
  assert.equal(flat(assume[0].Resource), 'arn:aws:iam::222222222222:role/burstwatch-member');
  const plain = ofType('AWS::IAM::Policy').flatMap(([, policy]) => statements(policy));
  assert.ok(!plain.some((statement) => list(statement.Action).includes('sts:AssumeRole')), 'none without a member');
});

test('three hundred member accounts with role names of the longest kind fit into policies that IAM takes', () => {
  const accounts = Array.from({ length: 300 }, (_, number) => String(222222222222 + number));
  const { template: made } = synthesise({
    units: accounts.map((account) => `${account}/us-east-1`).join(','),
    externalId: 'watch-me',
    fanOut: 'queue',
    memberRole: 'r'.repeat(64),
  });
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html (2026-11): without white space
  const sizes = (type: string) =>
    Object.values(made.findResources(type)).map((policy) => JSON.stringify(policy.Properties.PolicyDocument).length);
  const managed = sizes('AWS::IAM::ManagedPolicy');
  assert.ok(Math.max(...managed) <= 6_144, `${managed}`);
  assert.ok(Math.max(...sizes('AWS::IAM::Policy')) <= 10_240);
  const documents = [
    ...Object.values(made.findResources('AWS::IAM::Policy')),
    ...Object.values(made.findResources('AWS::IAM::ManagedPolicy')),
  ];
  const assumed = documents
    .flatMap((policy) => policy.Properties.PolicyDocument.Statement)
    .filter((statement: any) => list(statement.Action).includes('sts:AssumeRole'))
    .flatMap((statement: any) => list(statement.Resource).map(flat));
  assert.deepEqual(
    new Set(assumed),
    new Set(accounts.map((account) => `arn:aws:iam::${account}:role/${'r'.repeat(64)}`)),
  );
  assert.ok(managed.length <= 10, 'as many as a role may have');
  assert.ok(Object.keys(made.toJSON().Resources).length <= 500);
});

test('units of other accounts need the external id that their role asks for', () => {
  assert.throws(
    () => synthesise({ units: 'eu-west-1,222222222222/us-east-1' }),
    /externalId is empty and units has 222222222222\/us-east-1/,
  );
  synthesise({ units: 'eu-west-1' });
});

test('every alarm says where its runbook is, and it is there', () => {
  const { template: made } = synthesise({ ...MEMBERS, floor: true });
  const alarms = Object.values(made.findResources('AWS::CloudWatch::Alarm'));
  assert.ok(alarms.length >= 18);
  for (const alarm of alarms) {
    const text: string = alarm.Properties.AlarmDescription;
    const path =
      /\nRunbook: https:\/\/github\.com\/burstwatch\/burstwatch\/blob\/main\/(monitoring\/runbooks\/[a-z-]+\.md)$/.exec(
        text,
      )?.[1];
    assert.ok(path && existsSync(path), `${alarm.Properties.AlarmName}: ${text}`);
    assert.match(text, /^ALARM: .+\nNow: .+\nOK: .+\n/, 'the same text is sent with ALARM and with OK');
  }
});

test('the digest is off by itself, and on it may read its own log and publish to notice', () => {
  const weekly = (made: Template) =>
    Object.values(made.findResources('AWS::Events::Rule')).filter((rule) =>
      rule.Properties.ScheduleExpression.startsWith('cron'),
    );
  assert.equal(weekly(synthesise().template).length, 0);
  const { stack, props, template: made } = synthesise({ digest: true, shards: 4 });
  const [rule] = weekly(made);
  assert.equal(rule?.Properties.ScheduleExpression, 'cron(0 7 ? * MON *)');
  const event = JSON.parse(flat(rule?.Properties.Targets[0].Input));
  const usd = Number(/in all: ([\d.]+) USD/.exec(estimateFixedCost(stack, props))?.[1]);
  assert.ok(usd > 10, 'four functions');
  assert.ok(Math.abs(event.fixed_usd_a_month - usd) < 0.02, `${event.fixed_usd_a_month} and ${usd}`);
  const statements = Object.values(made.findResources('AWS::IAM::Policy')).flatMap(
    (one) => one.Properties.PolicyDocument.Statement,
  );
  for (const action of ['logs:FilterLogEvents', 'sns:Publish']) {
    const found = statements.filter((one) => [one.Action].flat().includes(action));
    assert.ok(found.length > 0, action);
    assert.ok(
      found.every((one) => one.Resource !== '*'),
      action,
    );
  }
});

test('a kind that there is not is refused at synth, as the function could not start with it', () => {
  assert.throws(
    () => synthesise({ settings: { kinds: 'rds' } }),
    /settings kinds has "rds"; allowed: docdb_instance_cpu, ebs_volume/,
  );
  synthesise({ settings: { kinds: 'ebs_volume' } });
  assert.throws(
    () => synthesise({ settings: { mass_from: '1' } }),
    /mass_from is "1"; allowed: a number of resources from 2 to 50/,
  );
});

test('a permissions boundary of the organisation is on every role', () => {
  const { template: bounded } = synthesise({
    ...MEMBERS,
    digest: true,
    '@aws-cdk/core:permissionsBoundary': { name: 'developer-boundary' },
  });
  const roles = Object.values(bounded.findResources('AWS::IAM::Role'));
  assert.ok(roles.length >= 3);
  for (const role of roles)
    assert.match(JSON.stringify(role.Properties.PermissionsBoundary), /policy\/developer-boundary/);
});

test('the README says what is deployed', () => {
  const readme = readFileSync('README.md', 'utf8').replaceAll('\n', ' ');
  const count = (type: string) => ofType(type).length;
  const said = `${count('AWS::Lambda::Function')} Lambda functions, ${count('AWS::SNS::Topic')} SNS topics, a KMS key, a queue and ${count('AWS::CloudWatch::Alarm')} alarms that watch burstwatch itself`;
  assert.equal(count('AWS::KMS::Key'), 1);
  assert.equal(count('AWS::SQS::Queue'), 1);
  assert.ok(readme.includes(said), said);
});
