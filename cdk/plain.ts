import {
  App,
  BootstraplessSynthesizer,
  CfnCondition,
  CfnParameter,
  Fn,
  type IStackSynthesizer,
  Stack,
} from 'aws-cdk-lib';
import { Architecture, Code } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { CfnSubscription } from 'aws-cdk-lib/aws-sns';
import catalog from './catalog.json' with { type: 'json' };
import { buildPackage } from './lib/bundle.ts';
import { BurstWatch } from './lib/burst-watch.ts';
import { OWN_SETTINGS } from './lib/validate.ts';

/**
 * The same stack as a template of plain CloudFormation: no CDK, no bootstrap, and each setting a parameter.
 * `make dist` writes it, beside the package that its parameters CodeBucket and CodeKey name.
 */
const app = new App({ outdir: process.env.CDK_OUTDIR ?? 'cdk.out' });
const stack = new Stack(app, 'Burstwatch', {
  description: 'burstwatch: says how long the burst credits of EBS volumes last, before they run out',
  // The types of the two differ in what may be undefined.
  synthesizer: new BootstraplessSynthesizer() as unknown as IStackSynthesizer,
});

const parameter = (name: string, props: ConstructorParameters<typeof CfnParameter>[2]) =>
  new CfnParameter(stack, name, props);
const bucket = parameter('CodeBucket', {
  description: 'The S3 bucket, in this region, that has the package of the functions',
  minLength: 3,
});
const key = parameter('CodeKey', {
  description: 'The key of the package in that bucket',
  default: 'burstwatch-lambda.zip',
  minLength: 1,
});
const email = parameter('AlarmEmail', {
  description: 'An inbox for the topics page and notice. SNS asks it to confirm each',
  default: '',
});
const deployment = parameter('Deployment', {
  description: 'Tells deployments in one account apart',
  default: 'burstwatch',
  allowedPattern: '[A-Za-z0-9-]{1,32}',
});
const architecture = parameter('Architecture', {
  description: "The functions' processor. The package is pure Python and runs on either",
  default: 'arm64',
  allowedValues: ['arm64', 'x86_64'],
});

/** `lead_s` is LeadS. */
const parameterName = (setting: string) =>
  setting
    .split('_')
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join('');
const settings = catalog.settings
  .filter(({ name }) => !OWN_SETTINGS.includes(name))
  .map((setting) => {
    const isText = typeof setting.default === 'string';
    const made = parameter(parameterName(setting.name), {
      description: setting.help,
      default: setting.default,
      ...(isText
        ? { allowedPattern: setting.pattern, constraintDescription: setting.allowed }
        : { type: 'Number', minValue: setting.low, maxValue: setting.high }),
    });
    return [setting.name, made.valueAsString] as const;
  });

const watch = new BurstWatch(stack, 'BurstWatch', {
  deployment: deployment.valueAsString,
  architecture: Architecture.custom(architecture.valueAsString),
  settings: Object.fromEntries(settings),
  code: Code.fromBucketV2(Bucket.fromBucketName(stack, 'Code', bucket.valueAsString), key.valueAsString),
});
const hasEmail = new CfnCondition(stack, 'HasEmail', {
  expression: Fn.conditionNot(Fn.conditionEquals(email.valueAsString, '')),
});
for (const [name, topic] of Object.entries({ Page: watch.topics.page, Notice: watch.topics.notice })) {
  const subscription = new CfnSubscription(stack, `Email${name}`, {
    topicArn: topic.topicArn,
    protocol: 'email',
    endpoint: email.valueAsString,
  });
  subscription.cfnOptions.condition = hasEmail;
}
app.synth();
console.log(buildPackage());
