import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { WatchedUnit } from './api.ts';
import type { ResolvedProps } from './props.ts';

/** What one sweep looks at: a unit, or a shard of one. Without a unit it is the deployment's own account and region. */
export interface Part {
  readonly unit?: WatchedUnit;
  readonly shard?: { readonly number: number; readonly count: number };
}

/** Everything that is to be swept in one period: each unit as a whole or in its shards. */
export function partsOf(props: Pick<ResolvedProps, 'units' | 'shards'>): Part[] {
  return [undefined, ...props.units].flatMap((unit) => {
    const count = unit ? (unit.shards ?? 1) : props.shards;
    const whole: Part = unit ? { unit } : {};
    if (count === 1) return [whole];
    return Array.from({ length: count }, (_, index) => ({ ...whole, shard: { number: index + 1, count } }));
  });
}

/** `222222222222-us-east-1`, `us-east-1-3of16`; nothing for the deployment's own as a whole. */
export function partId({ unit, shard }: Part): string {
  return [unit?.account, unit?.region, shard && `${shard.number}of${shard.count}`].filter(Boolean).join('-');
}

/** The same for people. */
export function partName(part: Part): string {
  return partId(part) || 'home';
}

/** The value of the dimension `Unit` of what is published about it. */
export function partDimension(scope: Construct, { unit, shard }: Part): string {
  const home = Stack.of(scope);
  const where = `${unit?.account ?? home.account}/${unit?.region ?? home.region}`;
  return shard ? `${where}/${shard.number}/${shard.count}` : where;
}

/** The event for the function: an account of its own is reached through its member role. */
export function partEvent(
  scope: Construct,
  { unit, shard }: Part,
  props: Pick<ResolvedProps, 'memberRole' | 'externalId'>,
): { unit: Record<string, string> } {
  const member =
    unit?.account === undefined
      ? {}
      : {
          account: unit.account,
          region: unit.region,
          role_arn: memberRoleArn(scope, unit.account, props.memberRole),
          ...(props.externalId ? { external_id: props.externalId } : {}),
        };
  return {
    unit: {
      ...(unit ? { region: unit.region, ...member } : {}),
      ...(shard ? { shard: `${shard.number}/${shard.count}` } : {}),
    },
  };
}

export function memberRoleArn(scope: Construct, account: string, role: string): string {
  return Stack.of(scope).formatArn({
    service: 'iam',
    region: '',
    account,
    resource: 'role',
    resourceName: role,
    arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
  });
}
