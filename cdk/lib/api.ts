import type { Duration } from 'aws-cdk-lib';
import type { Architecture, Code } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** What a deployment of burstwatch can be told. Everything has a default. */
export interface BurstWatchProps {
  /** Tells several deployments in one account apart. It is part of every alarm's name. */
  readonly deployment?: string;
  /** The sweep's settings by name, as `burstwatch catalog --settings` lists them. */
  readonly settings?: { readonly [name: string]: string };
  /** In how many parts the deployment's own unit is swept: 1, 2, 4, 8 or 16. Others say it themselves. */
  readonly shards?: number;
  /** The memory of each sweep function, and with it its share of a core. */
  readonly memoryMib?: number;
  /** How units and shards are swept: `functions`, each by one of its own, or `queue`, all by a few that take them from a queue. */
  readonly fanOut?: string;
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
  /** A CloudWatch dashboard of the fleet. Amazon bills it unless the account has fewer than three dashboards. */
  readonly dashboard?: boolean;
  /** One Metrics Insights alarm on the raw balance, which works without the sweep. Billed per volume. */
  readonly floor?: boolean;
  /** The floor's threshold in percent. */
  readonly floorPercent?: number;
  /** Further accounts and regions to watch; the one that it is deployed in is always watched. */
  readonly units?: WatchedUnit[];
  /**
   * Accounts that are found by themselves, beside `units`: an organisation such as `o-exampleorgid`, a part of it such as
   * `o-exampleorgid/ou-ab12-cdef3456`, or its accounts with a tag such as `o-exampleorgid/tag:env=prod`. Needs `fanOut` queue.
   */
  readonly organization?: string[];
  /** The regions to watch in accounts that are found; by default each that an account has enabled. */
  readonly regions?: string[];
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
