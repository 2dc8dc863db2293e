import type { TraceDocument } from '../status/endpoints.ts';
import type { StatusDocument } from '../status/schema.ts';
import { useJson } from './api.ts';
import { Card, Facts, Loaded } from './card.tsx';
import { cell, count, moment } from './format.ts';

type Row = TraceDocument['rows'][number];

/** A body as it was archived, laid out if it is JSON. */
function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function Origin({ page, now }: { page: Row['page']; now: string }) {
  if (page === null)
    return <p class="quiet">The page that brought it is no longer in the ledger.</p>;
  return (
    <>
      <p class="quiet">
        From page {count(page.sequence)} of walk {count(page.walk_id)} of{' '}
        <a href={`#/feed/${page.feed}`}>{page.feed}</a>, fetched {moment(page.fetched_at, now)},{' '}
        {page.cursor === null ? 'without a cursor' : <code>{page.cursor}</code>}
      </p>
      {page.body !== null && (
        <details>
          <summary>Archived body</summary>
          <pre>{laidOut(page.body)}</pre>
        </details>
      )}
    </>
  );
}

const Found = ({ row, now }: { readonly row: Row; readonly now: string }) => (
  <Card title={`${row.relation} ${row.key}`}>
    <Origin page={row.page} now={now} />
    <Facts
      facts={row.columns.map(({ name, value }) => [
        name,
        name === 'chain_id' ? (value ?? '') : cell(value),
      ])}
    />
    {row.changes.length > 0 && (
      <>
        <h3>Later changes</h3>
        <Facts facts={row.changes.map(({ at, sentence }) => [moment(at, now), sentence])} />
      </>
    )}
  </Card>
);

interface TraceProps {
  readonly term: string;
  readonly status: StatusDocument;
}

function Rows({ term, status: { as_of: now } }: TraceProps) {
  const answer = useJson<TraceDocument>('trace.json', { term }, null);
  return (
    <Loaded answer={answer}>
      {({ hint, is, rows }) => (
        <>
          {hint !== null && <p role="status">{hint}</p>}
          {is !== null && rows.length === 0 && <p role="status">No stored row has this {is}.</p>}
          {rows.map((row) => (
            <Found key={row.relation + row.key} row={row} now={now} />
          ))}
        </>
      )}
    </Loaded>
  );
}

function submit(event: SubmitEvent) {
  event.preventDefault();
  const term = new FormData(event.currentTarget as HTMLFormElement).get('term');
  if (typeof term === 'string') location.hash = `#/trace/${encodeURIComponent(term.trim())}`;
}

/** Which response a row came from, for a hash, an address or a height. */
export function Trace({ term, status }: TraceProps) {
  const label = 'Hash, address or height';
  return (
    <>
      <Card title="Trace a row" isMain>
        <p class="quiet">See which API response a row came from, and what changed later.</p>
        <form class="row" role="search" onSubmit={submit}>
          <input name="term" aria-label={label} placeholder={label} defaultValue={term} />
          <button type="submit">Trace</button>
        </form>
      </Card>
      {term !== '' && <Rows term={term} status={status} />}
    </>
  );
}
