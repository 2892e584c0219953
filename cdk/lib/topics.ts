import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

/**
 * Where the messages go: `page` and `notice` for CloudWatch's own alarms, `events` for readable detail.
 *
 * Encrypted with a key of our own: with AWS's own key for SNS, CloudWatch is not allowed to encrypt and the
 * alarm is never delivered, and nobody is told. So the key and each topic name CloudWatch, for this account only.
 */
export class Topics extends Construct {
  readonly key: Key;
  readonly page: Topic;
  readonly notice: Topic;
  readonly events: Topic;

  constructor(scope: Construct, id: string, props: { readonly deployment: string; readonly alarmEmail: string }) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: `burstwatch ${props.deployment}: topics`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid: 'CloudWatchAlarmsMayUseTheTopics',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    this.page = this.topic('Page', 'critical alarms: somebody must act now', true);
    this.notice = this.topic('Notice', 'warnings and the health of the monitor', true);
    this.events = this.topic('Events', 'readable detail of each episode', false);
    if (props.alarmEmail) {
      // Both: an inbox must also learn that the monitor is blind.
      for (const topic of [this.page, this.notice]) topic.addSubscription(new EmailSubscription(props.alarmEmail));
    }
  }

  private topic(id: string, displayName: string, forAlarms: boolean): Topic {
    const topic = new Topic(this, id, { displayName: `burstwatch: ${displayName}`, masterKey: this.key });
    if (forAlarms) {
      topic.addToResourcePolicy(
        new PolicyStatement({
          sid: 'CloudWatchAlarmsMayPublish',
          principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
          actions: ['sns:Publish'],
          resources: [topic.topicArn],
          conditions: {
            StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
            ArnLike: {
              'aws:SourceArn': Stack.of(this).formatArn({
                service: 'cloudwatch',
                resource: 'alarm',
                // Alarms of other names have no business with whoever is paged.
                resourceName: 'burstwatch*',
                arnFormat: ArnFormat.COLON_RESOURCE_NAME,
              }),
            },
          },
        }),
      );
    }
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'OnlyEncryptedInTransit',
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
    return topic;
  }
}
