/** What the configuration says of a feed unless a person says otherwise, as far as operations of a kind differ. */
export interface ConfigDefaults {
  /** Five cron fields. */
  readonly schedule: string;
  /** How far below the newest known item each poll of a newest-first list goes; others have none. */
  readonly overlap: string;
  /** Deeper polls of a newest-first list; others have none. */
  readonly resweep: readonly { readonly depth: string; readonly every: string }[];
}

/** What an operation says for its settings. */
export interface Configured {
  readonly guide: Pick<Guide, 'items' | 'about'>;
  readonly defaults: ConfigDefaults;
}

/** An operation as people meet it. */
export interface Guide {
  /** Its list beside the name of a chain: short, for a column. */
  readonly list: string;
  /** Its items, in the plural. */
  readonly items: string;
  /** What it is, in a sentence. */
  readonly about: string;
  /** Its lines in the file that `init` writes for a chain: YAML, with what it costs as comments. */
  example(chainId: number): string;
}
