import { Annotations, Stack, Token } from 'aws-cdk-lib';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };
import { partsOf } from './parts.ts';
import type { WatchedUnit } from './api.ts';
import type { ResolvedProps } from './props.ts';

/** A property that cannot be used. The message names it, its value and what is allowed. */
export class InvalidPropsError extends Error {}

/** A stack has at most 500 resources. What a deployment has besides its parts, and what each part takes, leave room for so many of about seven. */
const PARTS_BY_FUNCTIONS = 60;

/** These the stack itself knows better. */
export const OWN_SETTINGS = ['deployment', 'sweep_period_s', 'page_topic_arn', 'notice_topic_arn', 'events_topic_arn'];

const PATTERNS: readonly [keyof ResolvedProps, RegExp, string][] = [
  ['deployment', /^[A-Za-z0-9-]{1,32}$/, '1 to 32 letters, digits and hyphens'],
  ['alarmEmail', /^([^@\s]+@[^@\s]+)?$/, 'an e-mail address, or nothing'],
  ['fanOut', /^(functions|queue)$/, 'functions or queue'],
  ['memberRole', /^[\w+=,.@-]{1,64}$/, "a role's name"],
  ['externalId', /^([\w+=,.@:/-]{2,1224})?$/, '2 to 1224 letters, digits and _+=,.@:/-, or nothing'],
];

const RANGES: readonly [keyof ResolvedProps, number, number][] = [
  ['floorPercent', 1, 99],
  ['memoryMib', 256, 10_240],
  ['concurrency', 2, 1_000],
  ['sweepsPerInvocation', 1, 10],
];

/** Refuses texts of a wrong form: the name of the deployment is a part of the stack's, which CDK checks first. */
export function refuseBadText(props: ResolvedProps): void {
  for (const [name, pattern, allowed] of PATTERNS) {
    // What is only known at deployment is checked by the template's own parameter.
    refuseUnless(Token.isUnresolved(props[name]) || pattern.test(String(props[name])), name, props[name], allowed);
  }
}

/** Refuses what cannot work, before anything is deployed. What works but wakes nobody is a warning. */
export function validateProps(scope: Construct, props: ResolvedProps): void {
  refuseBadText(props);
  for (const [name, low, high] of RANGES) {
    const value = Number(props[name]);
    refuseUnless(
      Number.isInteger(value) && value >= low && value <= high,
      name,
      props[name],
      `a whole number from ${low} to ${high}`,
    );
  }
  const minutes = props.schedule.toMinutes({ integral: false });
  refuseUnless(
    Number.isInteger(minutes) && minutes >= 1 && minutes <= 60,
    'schedule',
    `${minutes} minutes`,
    '1 to 60 whole minutes',
  );
  checkSettings(props.settings);
  checkUnits(Stack.of(scope), props);
  checkOrganization(props);
  const nearby = props.units.filter((unit) => unit.account === undefined).map(nameOf);
  if (Token.isUnresolved(Stack.of(scope).region) && nearby.length > 0) {
    Annotations.of(scope).addWarningV2(
      'burstwatch:watched-twice',
      `the region of this stack is not known at synth. If you deploy it in ${nearby.join(' or ')}, that region is watched twice: set env (account and region) of the stack`,
    );
  }
  if (!props.settings['runbooks_url']) {
    Annotations.of(scope).addWarningV2(
      'burstwatch:runbooks',
      'runbooks_url is not set: the link in every page leads to the repository of burstwatch and not to yours. ' +
        'Set it to a copy of monitoring/runbooks that on-call can open; `burstwatch doctor` checks the link',
    );
  }
  if (!props.alarmEmail) {
    Annotations.of(scope).addWarningV2(
      'burstwatch:nobody-is-told',
      'alarmEmail is empty: until somebody subscribes to the topics page and notice, alarms reach nobody',
    );
  }
}

function checkSettings(settings: Readonly<Record<string, string>>): void {
  refuseUnless(
    typeof settings === 'object' && settings !== null,
    'settings',
    settings,
    'an object whose values are strings',
  );
  const allowed = catalog.settings.map((setting) => setting.name).filter((name) => !OWN_SETTINGS.includes(name));
  for (const [name, value] of Object.entries(settings)) {
    if (!allowed.includes(name)) {
      throw new InvalidPropsError(
        `settings has ${JSON.stringify(name)}${nearest(name, allowed)}; allowed: ${allowed.join(', ')}`,
      );
    }
    // A caller in JavaScript is not held to the type.
    refuseUnless(typeof value === 'string', `settings ${name}`, value, 'a text');
    if (!Token.isUnresolved(value)) checkSetting(name, value);
  }
}

/** A value that the function would refuse is refused here: it could not even start with it. */
function checkSetting(name: string, value: string): void {
  const setting = catalog.settings.find((entry) => entry.name === name)!;
  if (typeof setting.default === 'string') {
    refuseUnless(new RegExp(`^(?:${setting.pattern})$`).test(value), `settings ${name}`, value, setting.allowed);
    const kinds = catalog.kinds.map((kind) => kind.name);
    for (const kind of name === 'kinds' ? value.split(',').filter(Boolean) : []) {
      if (!kinds.includes(kind)) {
        throw new InvalidPropsError(
          `settings kinds has ${JSON.stringify(kind)}${nearest(kind, kinds)}; allowed: ${kinds.join(', ')}`,
        );
      }
    }
    return;
  }
  // What both languages take for a number: no 0x10, no 1_000.
  const number = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : Number.NaN;
  const isAllowed = number >= setting.low && number <= setting.high;
  refuseUnless(isAllowed, `settings ${name}`, value, `a number${setting.unit} from ${setting.low} to ${setting.high}`);
}

const ORGANIZATION_PART =
  /^o-[a-z0-9]{10,32}(\/(ou-[0-9a-z]{4,32}-[a-z0-9]{8,32}|r-[0-9a-z]{4,32}|tag:[^=]{1,128}=.{0,256}))?$/;

/** Parts of one organisation, whose accounts are reached by a role and swept through a queue. */
function checkOrganization(props: ResolvedProps): void {
  for (const part of props.organization) {
    refuseUnless(
      ORGANIZATION_PART.test(part),
      'units',
      part,
      'an organisation such as o-exampleorgid, o-exampleorgid/ou-ab12-cdef3456 or o-exampleorgid/tag:env=prod',
    );
  }
  const ids = [...new Set(props.organization.map(organizationOf))];
  if (ids.length > 1) {
    throw new InvalidPropsError(
      `units names the organisations ${ids.join(' and ')}; allowed: one: an account is in one only`,
    );
  }
  const known = RegionInfo.regions.map((info) => info.name);
  for (const region of props.regions) {
    if (!known.includes(region))
      throw new InvalidPropsError(
        `regions has ${JSON.stringify(region)}, which is no region of AWS${nearest(region, known)}`,
      );
  }
  if (props.organization.length === 0) {
    refuseUnless(
      props.regions.length === 0,
      'regions',
      props.regions,
      'nothing, as units names no organisation: regions is for accounts that are found',
    );
    return;
  }
  refuseUnless(
    props.fanOut === 'queue',
    'fanOut',
    props.fanOut,
    'queue, as units names an organisation: how many functions it takes is not known at deployment',
  );
  refuseUnless(
    props.externalId !== '',
    'externalId',
    props.externalId,
    'the external id that the role in each account asks for, as units names an organisation',
  );
}

/** The organisation of a part of one. */
export function organizationOf(part: string): string {
  return part.split('/')[0]!;
}

/** Each unit once, in a region that there is, in the partition of the deployment, and reachable. */
function checkUnits(home: Stack, props: ResolvedProps): void {
  for (const unit of props.units) {
    refuseUnless(
      typeof unit?.region === 'string',
      'units',
      unit,
      'objects with a region, and an account where it is another',
    );
  }
  const shards: [string, number][] = [
    ['home', props.shards],
    ...props.units.map((unit): [string, number] => [nameOf(unit), unit.shards ?? 1]),
  ];
  for (const [name, count] of shards) {
    if (!catalog.shard_counts.includes(count)) {
      throw new InvalidPropsError(
        `shards has ${JSON.stringify(count)} for ${name}; allowed: ${catalog.shard_counts.join(', ')}`,
      );
    }
  }
  const known = RegionInfo.regions.map((info) => info.name);
  const isHomeKnown = !Token.isUnresolved(home.region);
  const seen = new Set<string>(isHomeKnown ? [`${home.account}/${home.region}`] : []);
  let partition = isHomeKnown ? RegionInfo.get(home.region).partition : undefined;
  for (const unit of props.units) {
    const info = known.includes(unit.region) ? RegionInfo.get(unit.region) : undefined;
    if (info === undefined) {
      throw new InvalidPropsError(
        `units has ${JSON.stringify(nameOf(unit))}, and ${unit.region} is no region of AWS${nearest(unit.region, known)}`,
      );
    }
    partition ??= info.partition;
    if (info.partition !== partition) {
      throw new InvalidPropsError(
        `units has ${JSON.stringify(nameOf(unit))} of the partition ${info.partition}; allowed: regions of ${partition}: no role works across partitions. Deploy burstwatch in ${info.partition} too`,
      );
    }
    const where = `${unit.account ?? home.account}/${unit.region}`;
    if (seen.has(where)) {
      const why =
        isHomeKnown && where === `${home.account}/${home.region}`
          ? ', where burstwatch is deployed and always watches'
          : ' more than once';
      throw new InvalidPropsError(
        `units has ${JSON.stringify(nameOf(unit))}${why}; allowed: each account and region once`,
      );
    }
    seen.add(where);
    if (unit.account !== undefined && !props.externalId) {
      throw new InvalidPropsError(
        `externalId is empty and units has ${nameOf(unit)}; allowed: the external id that the role there asks for`,
      );
    }
  }
  const parts = partsOf(props).length;
  if (props.fanOut === 'functions' && parts > PARTS_BY_FUNCTIONS) {
    throw new InvalidPropsError(
      `units and shards make ${parts} functions; allowed: ${PARTS_BY_FUNCTIONS} in one stack: use fanOut=queue, or several deployments`,
    );
  }
}

function nameOf(unit: WatchedUnit): string {
  return [unit.account, unit.region].filter(Boolean).join('/');
}

function refuseUnless(isAllowed: boolean, name: string, value: unknown, allowed: string): void {
  if (!isAllowed) throw new InvalidPropsError(`${name} is ${JSON.stringify(value)}; allowed: ${allowed}`);
}

/** `, did you mean X?` for what is a few letters off. */
export function nearest(name: string, known: readonly string[]): string {
  const ranked = known
    .map((one): [number, string] => [distance(name.toLowerCase(), one.toLowerCase()), one])
    .sort(([a], [b]) => a - b);
  const [best] = ranked;
  return best && best[0] <= Math.max(2, name.length / 3) ? ` (did you mean ${best[1]}?)` : '';
}

/** The letters to change, add or take away, with two that changed places as one. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let least = Math.min(
        rows[row - 1]![column]! + 1,
        rows[row]![column - 1]! + 1,
        rows[row - 1]![column - 1]! + same,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, rows[row - 2]![column - 2]! + 1);
      }
      rows[row]!.push(least);
    }
  }
  return rows[a.length]![b.length]!;
}
