import { App, Stack, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { BurstWatch } from './lib/burst-watch.ts';
import { propsFromContext } from './lib/context.ts';
import { estimateFixedCost } from './lib/cost.ts';
import { resolveProps } from './lib/props.ts';
import { InvalidPropsError, refuseBadText } from './lib/validate.ts';

try {
  main();
} catch (error) {
  if (!(error instanceof InvalidPropsError)) throw error;
  // Where in our code it was found helps nobody.
  console.error(`burstwatch: ${error.message}`);
  process.exit(2);
}

function main(): void {
  const app = new App();
  const props = resolveProps(propsFromContext(app.node.getAllContext()));
  refuseBadText(props);
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
}
