import { Duration } from 'aws-cdk-lib';
import { Architecture } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import catalog from '../catalog.json' with { type: 'json' };
import { MEMORY_MIB, type ResolvedProps, type WatchedUnit } from './props.ts';

/** A context value that cannot be used. The message names it and what is allowed. */
export class ContextError extends Error {}

type Lookup = (name: string) => unknown;

/**
 * The deployment's properties from `cdk.json` and `-c name=value`.
 * Every value on the command line is a string, so numbers and switches are read from strings too.
 */
export function propsFromContext(lookup: Lookup): ResolvedProps {
  return {
    deployment: text(lookup, 'deployment', 'burstwatch', /^[A-Za-z0-9-]{1,32}$/, '1 to 32 letters, digits and hyphens'),
    settings: settings(lookup('settings')),
    schedule: Duration.minutes(whole(lookup, 'scheduleMinutes', 1, 1, 60)),
    architecture:
      text(lookup, 'architecture', 'arm64', /^(arm64|x86_64)$/, 'arm64 or x86_64') === 'arm64'
        ? Architecture.ARM_64
        : Architecture.X86_64,
    alarmEmail: text(lookup, 'alarmEmail', '', /^([^@\s]+@[^@\s]+)?$/, 'an e-mail address, or nothing'),
    digest: flag(lookup, 'digest'),
    floor: flag(lookup, 'floor'),
    floorPercent: whole(lookup, 'floorPercent', 10, 1, 99),
    ...reachable(unitsInShards(lookup), lookup),
    memoryMib: whole(lookup, 'memoryMib', MEMORY_MIB, 256, 10_240),
    fanOut: text(lookup, 'fanOut', 'functions', /^(functions|queue)$/, 'functions or queue') === 'queue' ? 'queue' : 'functions',
    concurrency: whole(lookup, 'concurrency', 5, 2, 1_000),
    sweepsPerInvocation: whole(lookup, 'sweepsPerInvocation', 1, 1, 10),
    memberRole: text(lookup, 'memberRole', catalog.member_role, /^[\w+=,.@-]{1,64}$/, "a role's name"),
    externalId: text(lookup, 'externalId', '', /^([\w+=,.@:/-]{2,1224})?$/, '2 to 1224 letters, digits and _+=,.@:/-, or nothing'),
    logRetention: RetentionDays.ONE_MONTH,
  };
}

/** Units of other accounts are reached through a role there, which asks for an external id. */
function reachable(found: Pick<ResolvedProps, 'units' | 'shards'>, lookup: Lookup): Pick<ResolvedProps, 'units' | 'shards'> {
  const other = found.units.find((unit) => unit.account !== undefined);
  if (other && !lookup('externalId')) {
    throw new ContextError(
      `context externalId is empty and units has ${other.account}/${other.region}, allowed is the external id that the role there asks for`,
    );
  }
  return found;
}

/** `eu-west-1,222222222222/us-east-1`, or the same as a list in cdk.json. */
function units(given: unknown): WatchedUnit[] {
  const names = typeof given === 'string' ? given.split(',').filter(Boolean) : (given ?? []);
  if (!Array.isArray(names)) {
    throw new ContextError(`context units is ${JSON.stringify(given)}, allowed is a list of region or account/region`);
  }
  return names.map((name: unknown) => {
    const match = /^(?:(\d{12})\/)?([a-z]{2,4}(?:-[a-z]+)+-\d{1,2})$/.exec(String(name));
    if (match === null) {
      throw new ContextError(`context units has ${JSON.stringify(name)}, allowed is region or account/region`);
    }
    return { region: match[2]!, ...(match[1] ? { account: match[1] } : {}) };
  });
}

/** The units, each with its shards: `shards=4` for all, or `home=2,222222222222/us-east-1=16`. */
function unitsInShards(lookup: Lookup): Pick<ResolvedProps, 'units' | 'shards'> {
  const found = units(lookup('units'));
  const nameOf = (unit: WatchedUnit) => [unit.account, unit.region].filter(Boolean).join('/');
  const names = ['home', ...found.map(nameOf)];
  const given = lookup('shards') ?? 1;
  const same = /^\d+$/.test(String(given)) ? names.map((name): [string, unknown] => [name, given]) : undefined;
  const shards = Object.fromEntries((same ?? pairs(given)).map(([name, value]) => {
    if (!names.includes(name)) {
      throw new ContextError(`context shards has ${JSON.stringify(name)}, allowed are ${names.join(', ')}`);
    }
    if (!catalog.shard_counts.includes(Number(value))) {
      throw new ContextError(`context shards has ${JSON.stringify(value)} for ${name}, allowed is ${catalog.shard_counts.join(', ')}`);
    }
    return [name, Number(value)];
  }));
  return {
    shards: shards['home'] ?? 1,
    units: found.map((unit) => ({ ...unit, shards: shards[nameOf(unit)] ?? 1 })),
  };
}

/** An object (cdk.json), or `name=value,name=value` (command line). */
function pairs(given: unknown): [string, unknown][] {
  return typeof given === 'string'
    ? given.split(',').filter(Boolean).map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)])
    : Object.entries((given as Record<string, unknown> | undefined) ?? {});
}

function text(lookup: Lookup, name: string, fallback: string, pattern: RegExp, allowed: string): string {
  const value = lookup(name) ?? fallback;
  if (typeof value !== 'string' || !pattern.test(value)) {
    throw new ContextError(`context ${name} is ${JSON.stringify(value)}, allowed is ${allowed}`);
  }
  return value;
}

function whole(lookup: Lookup, name: string, fallback: number, low: number, high: number): number {
  const value = Number(lookup(name) ?? fallback);
  if (!Number.isInteger(value) || value < low || value > high) {
    throw new ContextError(`context ${name} is ${JSON.stringify(lookup(name))}, allowed is a whole number from ${low} to ${high}`);
  }
  return value;
}

function flag(lookup: Lookup, name: string): boolean {
  const value = lookup(name) ?? false;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new ContextError(`context ${name} is ${JSON.stringify(value)}, allowed is true or false`);
}

/** Settings may be an object (cdk.json) or `lead_s=600,hold_s=300` (command line). */
function settings(given: unknown): Record<string, string> {
  const named = pairs(given);
  // These the stack itself knows better.
  const own = ['deployment', 'sweep_period_s', 'page_topic_arn', 'notice_topic_arn', 'events_topic_arn'];
  const allowed = catalog.settings.map((setting) => setting.name).filter((name) => !own.includes(name));
  for (const [name, value] of named) {
    if (!allowed.includes(name)) {
      throw new ContextError(`context settings has ${JSON.stringify(name)}, allowed are ${allowed.join(', ')}`);
    }
    checkSetting(name, String(value));
  }
  return Object.fromEntries(named.map(([name, value]) => [name, String(value)]));
}

/** A value that the function would refuse is refused here: it could not even start with it. */
function checkSetting(name: string, value: string): void {
  const setting = catalog.settings.find((entry) => entry.name === name)!;
  if (typeof setting.default === 'string') {
    if (!new RegExp(`^(?:${setting.pattern})$`).test(value)) {
      throw new ContextError(`context settings ${name} is ${JSON.stringify(value)}, allowed is ${setting.allowed}`);
    }
    const kinds = catalog.kinds.map((kind) => kind.name);
    for (const kind of name === 'kinds' ? value.split(',').filter(Boolean) : []) {
      if (!kinds.includes(kind)) {
        throw new ContextError(`context settings kinds has ${JSON.stringify(kind)}, allowed are ${kinds.join(', ')}`);
      }
    }
    return;
  }
  // What both languages take for a number: no 0x10, no 1_000.
  const number = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : Number.NaN;
  if (!(number >= setting.low && number <= setting.high)) {
    throw new ContextError(
      `context settings ${name} is ${JSON.stringify(value)}, allowed is a number${setting.unit} from ${setting.low} to ${setting.high}`,
    );
  }
}
