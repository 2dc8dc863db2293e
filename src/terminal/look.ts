export interface Look {
  /** Whether lines can be redrawn. */
  readonly isTerminal: boolean;
  /** Width in characters. Without a terminal it limits prose and tables only, and cuts nothing. */
  readonly columns: number;
  readonly isColoured: boolean;
}

export const plainLook: Look = { isTerminal: false, columns: 100, isColoured: false };

/** Maximum width of prose on any terminal. */
export const mostProse = 100;
