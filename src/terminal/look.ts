/** What a text is drawn on. */
export interface Look {
  /** Whether it is a terminal, on which lines can be redrawn. */
  readonly isTerminal: boolean;
  /** Characters in a line. Off a terminal it bounds prose and tables only; nothing is cut for it. */
  readonly columns: number;
  readonly isColoured: boolean;
}

/** A file or a pipe. */
export const plainLook: Look = { isTerminal: false, columns: 100, isColoured: false };

/** Prose is no wider than this, however wide the terminal is. */
export const mostProse = 100;
