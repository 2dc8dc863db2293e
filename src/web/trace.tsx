import type { TraceDocument } from '../status/endpoints.ts';
import { once, useJson } from './api.ts';
import { cell, count, moment } from './format.ts';
import { Amount, Card, Facts, FeedLink, Loaded, type Fact, type ViewProps } from './parts.tsx';

type Row = TraceDocument['rows'][number];

interface FoundProps {
  readonly row: Row;
  readonly now: string;
}

function factOf({ name, value, native }: Row['columns'][number], symbol: string | null): Fact {
  if (native === null) return [name, name === 'chain_id' ? value : cell(value)];
  return [name, <Amount key={name} exact={native} symbol={symbol} />];
}

const Found = ({
  row: { relation, key, page, columns, changes, native_symbol },
  now,
}: FoundProps) => (
  <Card title={`${relation} ${key}`}>
    {page === null ? (
      <p class="quiet">The page that brought it is no longer in the ledger.</p>
    ) : (
      <p class="quiet">
        From page {count(page.sequence)} of walk {count(page.walk_id)} of{' '}
        <FeedLink feed={page.feed} />, fetched {moment(page.fetched_at, now)},{' '}
        {page.cursor === null ? 'without a cursor' : <code>{page.cursor}</code>}
      </p>
    )}
    {page?.body && (
      <details>
        <summary>Archived body</summary>
        <pre>{page.body}</pre>
      </details>
    )}
    <Facts facts={columns.map((column) => factOf(column, native_symbol))} />
    {changes.length > 0 && <h3>Later changes</h3>}
    <Facts facts={changes.map(({ at, sentence }) => [moment(at, now), sentence])} />
  </Card>
);

function Rows({ term, now }: { readonly term: string; readonly now: string }) {
  const answer = useJson<TraceDocument>('trace.json', { term }, once);
  return (
    <Loaded {...answer}>
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
  if (typeof term === 'string') location.hash = `#/trace?term=${encodeURIComponent(term.trim())}`;
}

export function Trace({ query, status }: ViewProps) {
  const label = 'Hash, address or height';
  const term = query.get('term') ?? '';
  return (
    <>
      <Card title="Trace a row">
        <p class="quiet">See which API response a row came from, and what changed later.</p>
        <form key={term} class="row" role="search" onSubmit={submit}>
          <input name="term" aria-label={label} placeholder={label} defaultValue={term} />
          <button type="submit">Trace</button>
        </form>
      </Card>
      {term !== '' && <Rows key={term} term={term} now={status.as_of} />}
    </>
  );
}
