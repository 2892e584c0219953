import { Duration, Stack } from 'aws-cdk-lib';
import { Architecture } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { BurstWatchProps } from './api.ts';
import catalog from '../catalog.json' with { type: 'json' };

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
    dashboard: false,
    floor: false,
    floorPercent: 10,
    units: [],
    organization: [],
    regions: [],
    shards: 1,
    memoryMib: MEMORY_MIB,
    fanOut: given.organization?.length ? 'queue' : 'functions',
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
