import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { propsFromContext } from '../lib/context.ts';
import { resolveProps } from '../lib/props.ts';
import { nearest, validateProps } from '../lib/validate.ts';
import { build, flags, synthesise } from './synthesise.ts';

/** What a context comes to in a region, without a template. */
function check(context: Record<string, unknown>, region = 'eu-central-1'): void {
  const stack = new Stack(new App(), 'Test', { env: { account: '111122223333', region } });
  validateProps(stack, resolveProps(propsFromContext(context)));
}

const OTHER = { externalId: 'watch-me' };

/** Each context that cannot work, and what is said of it. */
const REFUSED: [Record<string, unknown>, RegExp][] = [
  [{ alarmEmial: 'a@b.org' }, /context "alarmEmial" is not known \(did you mean alarmEmail\?\); allowed: deployment, /],
  [{ lead_s: '600' }, /context "lead_s" is not known, it is a setting: -c settings=lead_s=VALUE/],
  [{ Deployment: 'x' }, /did you mean deployment\?/],
  [{ deployment: 'two words' }, /deployment is "two words"; allowed: 1 to 32 letters/],
  [{ deployment: '' }, /deployment is ""; allowed: 1 to 32/],
  [{ alarmEmail: 'nobody' }, /alarmEmail is "nobody"; allowed: an e-mail address/],
  [{ scheduleMinutes: '0' }, /scheduleMinutes is "0"; allowed: a whole number from 1 to 60/],
  [{ scheduleMinutes: '1.5' }, /scheduleMinutes is "1.5"/],
  [{ scheduleMinutes: 'often' }, /scheduleMinutes is "often"; allowed: a number/],
  [{ scheduleMinutes: '' }, /scheduleMinutes is ""; allowed: a number/],
  [{ architecture: 'arm' }, /architecture is "arm"; allowed: arm64 or x86_64/],
  [{ digest: 'yes' }, /digest is "yes"; allowed: true or false/],
  [{ dashboard: 'no' }, /dashboard is "no"; allowed: true or false/],
  [{ floor: '1' }, /floor is "1"; allowed: true or false/],
  [{ floorPercent: '100' }, /floorPercent is 100; allowed: a whole number from 1 to 99/],
  [{ memoryMib: '128' }, /memoryMib is 128; allowed: a whole number from 256 to 10240/],
  [{ fanOut: 'queues' }, /fanOut is "queues"; allowed: functions or queue/],
  [{ concurrency: '1' }, /concurrency is 1; allowed: a whole number from 2 to 1000/],
  [{ sweepsPerInvocation: '11' }, /sweepsPerInvocation is 11/],
  [{ memberRole: 'a role' }, /memberRole is "a role"; allowed: a role's name/],
  [{ externalId: 'x' }, /externalId is "x"; allowed: 2 to 1224/],
  [{ shards: '3' }, /shards has 3 for home; allowed: 1, 2, 4, 8, 16/],
  [{ shards: 'eu-west-1=2' }, /shards has "eu-west-1"; allowed: home/],
  [{ shards: 'many' }, /shards is "many"; allowed: name=value/],
  [{ units: 'mars' }, /units has "mars"; allowed: region or account\/region/],
  [{ units: '12/us-east-1', ...OTHER }, /units has "12\/us-east-1"; allowed: region or account\/region/],
  [{ units: 'us-east-1/222222222222' }, /units has "us-east-1\/222222222222"/],
  [{ units: 7 }, /units is 7; allowed: a list of region or account\/region/],
  [{ units: 'eu-west-9' }, /units has "eu-west-9", and eu-west-9 is no region of AWS \(did you mean eu-west-/],
  [{ units: 'cn-north-1' }, /of the partition aws-cn; allowed: regions of aws: no role works across partitions/],
  [{ units: 'eu-west-1,eu-west-1' }, /units has "eu-west-1" more than once/],
  [{ units: 'eu-west-1,111122223333/eu-west-1', ...OTHER }, /units has "111122223333\/eu-west-1" more than once/],
  [{ units: 'eu-central-1' }, /units has "eu-central-1", where burstwatch is deployed and always watches/],
  [{ units: '111122223333/eu-central-1', ...OTHER }, /, where burstwatch is deployed and always watches/],
  [{ units: '222222222222/us-east-1' }, /externalId is empty and units has 222222222222\/us-east-1/],
  [
    { shards: 16, units: 'eu-west-1,eu-west-2,eu-west-3,us-east-1' },
    /units and shards make 80 functions; allowed: 60 in one stack: use fanOut=queue/,
  ],
  [{ settings: 'lead=600' }, /settings has "lead" \(did you mean lead_s\?\); allowed: lead_s/],
  [{ settings: 'lead_s' }, /settings is "lead_s"; allowed: name=value,name=value/],
  [{ settings: 'lead_s=soon' }, /settings lead_s is "soon"; allowed: a number of seconds from 60 to 86400/],
  [{ settings: 'lead_s=0x100' }, /settings lead_s is "0x100"/],
  [
    { settings: { kinds: 'ebs_volumes' } },
    /settings kinds has "ebs_volumes" \(did you mean ebs_volume\?\); allowed: docdb/,
  ],
  [{ settings: 'tag_filter=team' }, /settings tag_filter is "team"; allowed: .*key=value/],
  [{ shards: 'home=x' }, /shards of home is "x"; allowed: a number/],
  [{ settings: { page_topic_arn: 'arn' } }, /settings has "page_topic_arn"/],
];

for (const [context, said] of REFUSED) {
  test(`${JSON.stringify(context)} is refused at synth`, () => {
    assert.throws(() => check(context), said);
  });
}

test('lists of settings survive the commas between settings', () => {
  const { settings } = propsFromContext({ settings: 'kinds=ebs_volume,rds_storage,lead_s=600' });
  assert.deepEqual(settings, { kinds: 'ebs_volume,rds_storage', lead_s: '600' });
  check({ settings: 'kinds=ebs_volume,rds_storage,lead_s=600' });
});

test('regions of one partition may be watched together, in each partition', () => {
  check({ units: 'cn-northwest-1' }, 'cn-north-1');
  check({ units: 'us-gov-east-1' }, 'us-gov-west-1');
  check({ units: 'us-east-1' });
  assert.throws(() => check({ units: 'us-east-1' }, 'eusc-de-east-1'), /partition aws; allowed: regions of aws-eusc/);
});

test('the most parts that are allowed fit into one stack', () => {
  const units = 'us-east-1,us-east-2,us-west-1,eu-west-1';
  const shards = 'home=16,us-east-1=16,us-east-2=16,us-west-1=8,eu-west-1=4';
  const { template } = synthesise({
    units,
    shards,
    floor: true,
    digest: true,
    dashboard: true,
    alarmEmail: 'a@example.org',
  });
  assert.ok(Object.keys(template.toJSON().Resources).length <= 500);
});

test('what CDK itself keeps in the context is not refused', () => {
  check({ '@aws-cdk/core:stackRelativeExports': true, 'aws:cdk:enable-path-metadata': true, analytics: false });
});

test('a deployment without a recipient says so at synth, and one with none does not', () => {
  const warned = (context: Record<string, unknown>) =>
    Annotations.fromStack(build(context).stack).findWarning('*', Match.stringLikeRegexp('alarms reach nobody')).length;
  assert.equal(warned({}), 1);
  assert.equal(warned({ alarmEmail: 'oncall@example.org' }), 0);
});

test('a unit that may be the home of the stack is warned of where the region is not known', () => {
  const warned = (region?: string) => {
    const stack = new Stack(new App(), 'Somewhere', region ? { env: { region } } : {});
    validateProps(stack, resolveProps({ units: [{ region: 'eu-west-1' }] }));
    return Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('watched twice')).length;
  };
  assert.equal(warned(), 1);
  assert.equal(warned('us-east-1'), 0);
});

test('the name that is nearest is named, and nothing that is far off', () => {
  assert.equal(nearest('shedule', ['schedule', 'shards']), ' (did you mean schedule?)');
  assert.equal(nearest('xyz', ['schedule', 'shards']), '');
});

const app = (context: Record<string, unknown>) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'cdk/app.ts'], {
    env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ ...flags, ...context }) },
    encoding: 'utf8',
  });

for (const [what, context] of Object.entries({
  'everything that is off by default': { digest: 'true', dashboard: 'true', floor: 'true', floorPercent: '20' },
  'units, shards and a queue': {
    units: 'eu-west-1',
    shards: '4',
    fanOut: 'queue',
    settings: 'lead_s=600,kinds=ebs_volume,rds_storage',
  },
})) {
  test(`the app of ${what} passes its checks`, () => {
    const found = app({ alarmEmail: 'oncall@example.org', ...context });
    assert.equal(found.status, 0, found.stderr + found.stdout);
  });
}

test('a setting that is there twice, a deployment that is no name of a stack, and settings that are none are refused', () => {
  for (const [context, words] of [
    [{ settings: 'lead_s=600,kinds=ebs_volume,kinds=rds_storage' }, /settings has "kinds" twice/],
    [{ deployment: 'my_team' }, /deployment is "my_team"; allowed: 1 to 32 letters/],
    [{ settings: 600 }, /settings is 600; allowed: an object/],
  ] as const) {
    const found = app(context);
    assert.equal(found.status, 2, found.stderr);
    assert.match(found.stderr, words);
  }
});

test('what only JavaScript lets through is refused by name, and undefined is the default', () => {
  const make = (props: any) => validateProps(new Stack(new App(), 'Stack'), resolveProps(props));
  assert.throws(() => make({ settings: { lead_s: 600 } }), /settings lead_s is 600; allowed: a text/);
  assert.throws(() => make({ settings: null }), /settings is null; allowed: an object/);
  assert.throws(() => make({ units: ['eu-west-1'] }), /units is "eu-west-1"; allowed: objects with a region/);
  assert.doesNotThrow(() => make({ alarmEmail: undefined, schedule: undefined, units: undefined }));
});

test('the app ends with one line and code 2, and no stack of calls', () => {
  const context = JSON.stringify({ alarmEmial: 'a@b.org' });
  const found = spawnSync(process.execPath, ['--import', 'tsx', 'cdk/app.ts'], {
    env: { ...process.env, CDK_CONTEXT_JSON: context },
    encoding: 'utf8',
  });
  assert.equal(found.status, 2);
  assert.match(found.stderr, /^burstwatch: context "alarmEmial" is not known \(did you mean alarmEmail\?\)[^\n]*\n$/);
});
