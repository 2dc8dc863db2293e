import { exportDocument } from './export.ts';

/** The documents of `--json` whose schema is not beside its command yet. */
export const documents = { export: exportDocument } as const;
