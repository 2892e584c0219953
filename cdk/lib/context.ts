import { Duration } from 'aws-cdk-lib';
import { Architecture } from 'aws-cdk-lib/aws-lambda';
import catalog from '../catalog.json' with { type: 'json' };
import type { BurstWatchProps, WatchedUnit } from './api.ts';
import { InvalidPropsError, nearest } from './validate.ts';

type Context = Readonly<Record<string, unknown>>;

/** The names that `cdk.json` and `-c name=value` may have, each with how its value becomes a property. */
const READERS: Record<string, (value: unknown, context: Context) => Partial<BurstWatchProps>> = {
  deployment: (value) => ({ deployment: String(value) }),
  settings: (value) => ({
    settings: Object.fromEntries(pairs('settings', value).map(([name, one]) => [name, String(one)])),
  }),
  scheduleMinutes: (value) => ({ schedule: minutes(value) }),
  architecture: (value) => ({ architecture: architecture(value) }),
  alarmEmail: (value) => ({ alarmEmail: String(value) }),
  digest: (value) => ({ digest: flag('digest', value) }),
  dashboard: (value) => ({ dashboard: flag('dashboard', value) }),
  floor: (value) => ({ floor: flag('floor', value) }),
  floorPercent: (value) => ({ floorPercent: number('floorPercent', value) }),
  units: (value, context) => ({
    units: unitsInShards(value, context['shards']),
    organization: partsOfOrganization(value),
  }),
  regions: (value) => ({ regions: names('regions', value, 'a list of regions') }),
  shards: (value, context) => ({ shards: shardsOf(value, context['units']).get('home') ?? 1 }),
  memoryMib: (value) => ({ memoryMib: number('memoryMib', value) }),
  fanOut: (value) => ({ fanOut: String(value) }),
  concurrency: (value) => ({ concurrency: number('concurrency', value) }),
  sweepsPerInvocation: (value) => ({ sweepsPerInvocation: number('sweepsPerInvocation', value) }),
  memberRole: (value) => ({ memberRole: String(value) }),
  externalId: (value) => ({ externalId: String(value) }),
};

/** Names that CDK itself reads, beside those with a colon or an at sign in them. */
const OF_CDK = ['analytics', 'tags', 'acknowledged-issue-numbers', 'cli-telemetry', 'cdk-migrate'];

/**
 * The deployment's properties from `cdk.json` and `-c name=value`. What the values mean is checked where they are used.
 * Every value on the command line is a string, so numbers and switches are read from strings too.
 */
export function propsFromContext(context: Context): BurstWatchProps {
  const known = Object.keys(READERS);
  for (const name of Object.keys(context)) {
    if (!known.includes(name) && !/[@:]/.test(name) && !OF_CDK.includes(name)) {
      if (catalog.settings.some((setting) => setting.name === name)) {
        throw new InvalidPropsError(
          `context ${JSON.stringify(name)} is not known, it is a setting: -c settings=${name}=VALUE`,
        );
      }
      throw new InvalidPropsError(
        `context ${JSON.stringify(name)} is not known${nearest(name, known)}; allowed: ${known.join(', ')}`,
      );
    }
  }
  const given = known.filter((name) => context[name] !== undefined);
  return Object.assign({}, ...given.map((name) => READERS[name]!(context[name], context)));
}

function minutes(value: unknown): Duration {
  const found = number('scheduleMinutes', value);
  if (!Number.isInteger(found) || found < 1 || found > 60) {
    throw new InvalidPropsError(`scheduleMinutes is ${JSON.stringify(value)}; allowed: a whole number from 1 to 60`);
  }
  return Duration.minutes(found);
}

function architecture(value: unknown): Architecture {
  if (value === 'arm64') return Architecture.ARM_64;
  if (value === 'x86_64') return Architecture.X86_64;
  throw new InvalidPropsError(`architecture is ${JSON.stringify(value)}; allowed: arm64 or x86_64`);
}

const UNITS_ALLOWED = 'region or account/region, or a part of an organisation such as o-exampleorgid/ou-ab12-cdef3456';

/** A list in cdk.json, or names with commas between. */
function names(what: string, given: unknown, allowed: string): string[] {
  const list = typeof given === 'string' ? given.split(',').filter(Boolean) : (given ?? []);
  if (!Array.isArray(list)) throw new InvalidPropsError(`${what} is ${JSON.stringify(given)}; allowed: ${allowed}`);
  return list.map((name: unknown) => String(name).trim());
}

/** What is found there is not known at synth. */
function isOfOrganization(name: string): boolean {
  return name.startsWith('o-');
}

function partsOfOrganization(given: unknown): string[] {
  return names('units', given, `a list of ${UNITS_ALLOWED}`).filter(isOfOrganization);
}

/** `eu-west-1,222222222222/us-east-1`, or the same as a list in cdk.json. */
function units(given: unknown): WatchedUnit[] {
  const fixed = names('units', given, `a list of ${UNITS_ALLOWED}`).filter((name) => !isOfOrganization(name));
  return fixed.map((name) => {
    const match = /^(?:(\d{12})\/)?([a-z]{2,4}(?:-[a-z]+)+-\d{1,2})$/.exec(name);
    if (match === null) {
      throw new InvalidPropsError(`units has ${JSON.stringify(name)}; allowed: ${UNITS_ALLOWED}`);
    }
    return { region: match[2]!, ...(match[1] ? { account: match[1] } : {}) };
  });
}

function nameOf(unit: WatchedUnit): string {
  return [unit.account, unit.region].filter(Boolean).join('/');
}

function unitsInShards(given: unknown, shards: unknown): WatchedUnit[] {
  const counts = shardsOf(shards, given);
  return units(given).map((unit) => ({ ...unit, shards: counts.get(nameOf(unit)) ?? 1 }));
}

/** The shards of each unit: `shards=4` for all, or `home=2,222222222222/us-east-1=16`. */
function shardsOf(given: unknown, unitNames: unknown): Map<string, number> {
  const names = ['home', ...units(unitNames).map(nameOf)];
  if (/^\d+$/.test(String(given ?? 1))) return new Map(names.map((name) => [name, Number(given ?? 1)]));
  return new Map(
    pairs('shards', given).map(([name, value]) => {
      if (!names.includes(name)) {
        throw new InvalidPropsError(`shards has ${JSON.stringify(name)}; allowed: ${names.join(', ')}`);
      }
      return [name, number(`shards of ${name}`, value)];
    }),
  );
}

/**
 * An object (cdk.json), or `name=value,name=value` (command line). A part without `=` belongs to the value before it, so
 * `kinds=ebs_volume,rds_storage,lead_s=600` has two names.
 */
function pairs(what: string, given: unknown): [string, unknown][] {
  if (typeof given === 'object' && !Array.isArray(given)) return Object.entries(given ?? {});
  if (typeof given !== 'string')
    throw new InvalidPropsError(`${what} is ${JSON.stringify(given)}; allowed: an object, or name=value,name=value`);
  const found: [string, string][] = [];
  for (const part of given.split(',').filter(Boolean)) {
    const before = found.at(-1);
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    if (at > 0 && found.some(([earlier]) => earlier === name)) {
      throw new InvalidPropsError(
        `${what} has ${JSON.stringify(name)} twice; allowed: each name once; several values of one name are written as name=value,value`,
      );
    }
    if (at > 0) found.push([name, part.slice(at + 1)]);
    else if (before) before[1] = `${before[1]},${part}`;
    else throw new InvalidPropsError(`${what} is ${JSON.stringify(given)}; allowed: name=value,name=value`);
  }
  return found;
}

function number(name: string, value: unknown): number {
  const found = typeof value === 'string' && !value.trim() ? Number.NaN : Number(value);
  if (Number.isNaN(found)) throw new InvalidPropsError(`${name} is ${JSON.stringify(value)}; allowed: a number`);
  return found;
}

function flag(name: string, value: unknown): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new InvalidPropsError(`${name} is ${JSON.stringify(value)}; allowed: true or false`);
}
