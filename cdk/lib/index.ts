export { BurstWatch } from './burst-watch.ts';
export { type BurstWatchProps, type FanOut, type WatchedUnit } from './props.ts';
export { InvalidPropsError } from './validate.ts';
