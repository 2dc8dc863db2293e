import type { RunsDocument } from '../status/endpoints.ts';
import type { FeedStatus } from '../status/schema.ts';

type State = FeedStatus['state'] | RunsDocument['runs'][number]['state'];

/** Red only if a person must act, amber if it waits, the accent colour while it works. */
export const tones = {
  pending: 'plain',
  running: 'busy',
  current: 'good',
  behind: 'wait',
  failing: 'wait',
  blocked: 'act',
  paused: 'wait',
  unsupported: 'act',
  open: 'busy',
  finished: 'good',
  failed: 'wait',
  interrupted: 'plain',
  superseded: 'plain',
} as const satisfies Record<State, string>;

/** A state as a word in its colour. */
export const Chip = ({ state }: { readonly state: State }) => (
  <span class={`chip ${tones[state]}`}>{state}</span>
);
