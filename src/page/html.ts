import type { html } from 'hono/html';

/** Every value between its tags is escaped, but pieces that it made itself. */
export { html } from 'hono/html';

/** A piece of a page. */
export type Html = ReturnType<typeof html>;
