import { App, Stack, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { BurstWatch } from './lib/burst-watch.ts';
import { propsFromContext } from './lib/context.ts';
import { estimateFixedCost } from './lib/cost.ts';

const app = new App();
const props = propsFromContext((name) => app.node.tryGetContext(name));
const region = process.env.CDK_DEFAULT_REGION;
const stack = new Stack(app, props.deployment === 'burstwatch' ? 'Burstwatch' : `Burstwatch-${props.deployment}`, {
  description: 'burstwatch: says how long the burst credits of EBS volumes last, before they run out',
  // Without credentials the template is made for any account and region.
  ...(process.env.CDK_DEFAULT_ACCOUNT && region ? { env: { account: process.env.CDK_DEFAULT_ACCOUNT, region } } : {}),
});
new BurstWatch(stack, 'BurstWatch', props);
// China's CloudFormation knows no tags of dashboards.
Tags.of(stack).add('application', 'burstwatch', { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));

console.error(estimateFixedCost(stack, props));
