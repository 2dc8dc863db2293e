import type { StatusDocument } from '../documents/status.ts';
import type { Database } from '../db/transaction.ts';
import type { Html } from '../page/html.ts';

/** What a panel is made from. */
export interface PanelRequest {
  /** The page's own connection: it reads only, and no statement takes long. */
  readonly db: Database;
  /** Some seconds old at most. */
  readonly status: StatusDocument;
  /** Of the whole page: the names of a panel's own parameters begin with its id. */
  readonly query: URLSearchParams;
  /** A command as this user calls it. */
  readonly called: (command: string) => string;
}

/** A part of the page that is read and shown by itself. */
export interface Panel {
  readonly id: string;
  readonly title: string;
  render(request: PanelRequest): Promise<Html>;
}
