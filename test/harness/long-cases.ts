import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether the file runs in the long suite, as those do that `withMoreCases` of the configuration names. */
    isLong: boolean;
  }
}

/** Cases of the long suite alone: `npm test` has another one of their sort. */
export const inLong = <T>(...cases: readonly T[]): readonly T[] => (inject('isLong') ? cases : []);
