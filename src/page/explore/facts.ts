/** A column of an answer. */
export interface AnswerColumn {
  readonly name: string;
  /** As Postgres calls it. */
  readonly type: string;
  readonly isNumber: boolean;
}

/** What a question was answered; values as Postgres writes them. */
export interface Table {
  readonly columns: readonly AnswerColumn[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Whether there are more rows. */
  readonly isCut: boolean;
  readonly ms: number;
}

/** What of an answer is drawn. */
export interface Chart {
  readonly of: string;
  readonly by: string | null;
  readonly split: string | null;
}

/** A parameter as the form has it. */
export interface Field {
  readonly name: 'chain' | 'days' | 'limit';
  /** What was asked for, or what holds without it. */
  readonly value: string;
  readonly meaning: string;
}

/** A question that has a name. */
export interface NamedQuestion {
  readonly name: string;
  readonly question: string;
}

/** The chosen question. */
export interface ChosenQuestion extends NamedQuestion {
  readonly fields: readonly Field[];
  readonly chart: Chart | null;
  readonly sql: string;
  /** The same in a terminal. */
  readonly command: string;
  readonly answer:
    | { readonly is: 'refused'; readonly message: string }
    | { readonly is: 'answered'; readonly table: Table };
}

/** What is told of a table or of a column of it. */
export interface Described {
  readonly table: string;
  readonly kind: string;
  /** Null: it is about the table. */
  readonly column: string | null;
  readonly type: string | null;
  readonly unit: string | null;
  readonly is_key: boolean;
  readonly description: string | null;
}

/** What the dictionary was asked. */
export type Dictionary =
  | { readonly is: 'tables'; readonly tables: readonly Described[] }
  | { readonly is: 'table'; readonly name: string; readonly entries: readonly Described[] }
  | {
      readonly is: 'search';
      readonly word: string;
      readonly entries: readonly Described[];
      /** Whether more match. */
      readonly isCut: boolean;
    };
