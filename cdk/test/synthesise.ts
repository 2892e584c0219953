import { readFileSync } from 'node:fs';
import { App, cx_api as cxapi, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { propsFromContext } from '../lib/context.ts';
import { BurstWatch } from '../lib/burst-watch.ts';
import { resolveProps } from '../lib/props.ts';

export type Resource = { Type: string; Properties: Record<string, any>; DependsOn?: string[] };
export type Reference = { Ref?: string; 'Fn::GetAtt'?: [string, string] };

export const flags = JSON.parse(readFileSync('cdk.json', 'utf8')).context;

/** The app with a context, in an account and region that are known. `cdk synth` validates it; here that is most of the time. */
export function build(context: Record<string, unknown> = {}) {
  const app = new App({
    context: { ...flags, [cxapi.DISABLE_ASSET_STAGING_CONTEXT]: true, ...context },
    builtinCloudFormationValidation: false,
  });
  const stack = new Stack(app, 'Test', { env: { account: '111122223333', region: 'eu-central-1' } });
  const props = resolveProps(propsFromContext(app.node.getAllContext()));
  new BurstWatch(stack, 'BurstWatch', props);
  return { app, stack, props };
}

export function synthesise(context: Record<string, unknown> = {}) {
  const { stack, props } = build(context);
  return { stack, props, template: Template.fromStack(stack) };
}

export const target = (reference: Reference) => reference.Ref ?? reference['Fn::GetAtt']?.[0] ?? '';
export const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** What CloudFormation joins, as one text. */
export function flat(value: any): string {
  if (typeof value === 'string') return value;
  if (value['Fn::Join']) return value['Fn::Join'][1].map(flat).join('');
  return value.Ref;
}

/** Further units, one of them in the same account. */
export const MEMBERS = { units: 'eu-west-1,222222222222/us-east-1,222222222222/eu-west-1', externalId: 'watch-me' };
