/** What the service answers: a status and a JSON body. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** How many items the body hands out, copies included. */
  readonly items: number;
}

/** What is wrong with a query parameter. */
export interface Problem {
  readonly name: string;
  readonly detail: string;
}

/** An answer without items. */
export function refuse(status: number, body: unknown): Answer {
  return { status, body, items: 0 };
}

/** The answer to parameters that the operation does not take. */
export function refuseParameters(problems: readonly Problem[]): Answer {
  const errors = problems.map(({ name, detail }) => ({
    title: 'Invalid value',
    source: { pointer: `/${name}` },
    detail,
  }));
  return refuse(422, { errors });
}
