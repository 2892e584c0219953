import { Duration, Stack } from 'aws-cdk-lib';
import { Architecture, type Code } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import catalog from '../catalog.json' with { type: 'json' };

/** What a deployment of burstwatch can be told. Everything has a default. */
export interface BurstWatchProps {
  /** Tells several deployments in one account apart. It is part of every alarm's name. */
  readonly deployment?: string;
  /** The sweep's settings by name, as `burstwatch config` lists them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** In how many parts the deployment's own unit is swept: 1, 2, 4, 8 or 16. Others say it themselves. */
  readonly shards?: number;
  /** The memory of each sweep function, and with it its share of a core. */
  readonly memoryMib?: number;
  /** How units and shards are swept: each by a function of its own, or all by a few that take them from a queue. */
  readonly fanOut?: FanOut;
  /** Through a queue: how many sweeps may run at once. */
  readonly concurrency?: number;
  /** Through a queue: how many sweeps one invocation makes, one after the other, in the time of one. */
  readonly sweepsPerInvocation?: number;
  /** How often the sweep runs, in whole minutes. */
  readonly schedule?: Duration;
  /** The function's processor. The package is pure Python and runs on either. */
  readonly architecture?: Architecture;
  /** An inbox for the topics page and notice. Amazon SNS asks it to confirm each. */
  readonly alarmEmail?: string;
  /** Once a week, what happened and what would help, to the topic notice. */
  readonly digest?: boolean;
  /** One Metrics Insights alarm on the raw balance, which works without the sweep. Billed per volume. */
  readonly floor?: boolean;
  /** The floor's threshold in percent. */
  readonly floorPercent?: number;
  /** Further accounts and regions to watch; the one that it is deployed in is always watched. */
  readonly units?: readonly WatchedUnit[];
  /** The name of the role in each member account, as cdk/member-role.json makes it. */
  readonly memberRole?: string;
  /** What the member roles ask for before they let anyone in. Not a secret, but not to be guessed. */
  readonly externalId?: string;
  /** How long logs are kept. */
  readonly logRetention?: RetentionDays;
  /** The package of the functions. By default the one that comes with this library, or is built from its sources. */
  readonly code?: Code;
}

/** An account and region. Without an account it is the deployment's own. */
export interface WatchedUnit {
  readonly account?: string;
  readonly region: string;
  readonly shards?: number;
}

export type FanOut = 'functions' | 'queue';

export type ResolvedProps = Required<Omit<BurstWatchProps, 'code'>>;

/** The properties with the default of each that is not given. */
export function resolveProps({ code: _, ...given }: BurstWatchProps): ResolvedProps {
  return {
    deployment: 'burstwatch',
    settings: {},
    schedule: Duration.minutes(1),
    architecture: Architecture.ARM_64,
    alarmEmail: '',
    digest: false,
    floor: false,
    floorPercent: 10,
    units: [],
    shards: 1,
    memoryMib: MEMORY_MIB,
    fanOut: 'functions',
    concurrency: 5,
    sweepsPerInvocation: 1,
    memberRole: catalog.member_role,
    externalId: '',
    logRetention: RetentionDays.ONE_MONTH,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

/** Numbers of the deployment that belong to no one part. */
export const NAMESPACE = 'Burstwatch';
export const PYTHON = 'python3.13';
export const MEMORY_MIB = 512;

/**
 * How long a sweep may take: under its period, so that two overlap only when something is wrong. And not for many
 * minutes, for what it publishes is stamped with its start, and an alarm looks at the last minutes.
 */
export function sweepTimeout(props: Pick<ResolvedProps, 'schedule'>): Duration {
  return Duration.seconds(Math.min(110, props.schedule.toSeconds() - 10));
}

/** A unit is missed after so many periods without a heartbeat, and a new one gets as many. */
export const HEARTBEATS: number = catalog.heartbeats_missed;

/** The name of a deployment's dashboard: CloudWatch has one list of them for all regions of an account. */
export function dashboardName(scope: Construct, deployment: string): string {
  return `burstwatch-${deployment}-${Stack.of(scope).region}`;
}
