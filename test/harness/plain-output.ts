import { plainLook } from '../../src/terminal/look.ts';

/** What a command draws on in a test: files, as under a service manager. */
export const plainOutput = { out: plainLook, err: plainLook, program: 'explorer-etl' } as const;
