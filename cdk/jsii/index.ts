import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { BurstWatchProps } from './api';

export * from './api';

/** The construct's parts, in one file beside this one. jsii does not look into it. */
const { addParts } = require('./parts.js');

/** Watches the burst credits of one account and region, and pages before they run out. */
export class BurstWatch extends Construct {
  /** Critical alarms. */
  public readonly pageTopic: ITopic;
  /** Warnings, and the health of the monitor. */
  public readonly noticeTopic: ITopic;
  /** One readable message for each step of an episode. */
  public readonly eventsTopic: ITopic;

  public constructor(scope: Construct, id: string, props: BurstWatchProps = {}) {
    super(scope, id);
    const { topics } = addParts(this, props);
    this.pageTopic = topics.page;
    this.noticeTopic = topics.notice;
    this.eventsTopic = topics.events;
  }
}
