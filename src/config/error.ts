export interface Problem {
  /** What is wrong and what to do; holds no secret. */
  readonly message: string;
  /** Such as `explorer-etl.yaml:7`; null: no place in a file. */
  readonly where: string | null;
  /** The bare command that helps, such as `explorer-etl init`. */
  readonly command?: string;
}

/** Wrong use or configuration: all problems, each one line. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(
      problems
        .map(({ message, where }) => (where === null ? message : `${where}: ${message}`))
        .join('\n'),
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
