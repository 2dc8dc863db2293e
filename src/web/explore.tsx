import { useMemo, useState } from 'preact/hooks';
import type { QueriesDocument, QueryDocument } from '../status/endpoints.ts';
import type { StatusDocument } from '../status/schema.ts';
import { download, useJson, type Problem } from './api.ts';
import { Card, Facts, Loaded } from './card.tsx';
import { colours, TimeChart, type Series } from './charts.tsx';
import { cell, compact, count, counted, decimal } from './format.ts';
import { Table } from './table.tsx';

type Query = QueriesDocument['queries'][number];
type Value = QueryDocument['rows'][number][number];
/** Names of chains by their ids, as text. */
type Chains = ReadonlyMap<string, string>;

/** What Explore opens with. */
const firstQuery = 'operations-daily';
const mostRows = 200;
const mostBars = 25;

const isTime = (type: string | undefined): boolean => /^(?:date|timestamp)/u.test(type ?? '');
const isNumeric = (type: string): boolean => /int|numeric|float|double|real|decimal/u.test(type);

/** A value for people: chains by their names, digits in groups. */
const show = (value: Value, column: string, chains: Chains): string =>
  column === 'chain_id' ? (chains.get(String(value)) ?? String(value)) : cell(value);

interface AnswerProps {
  readonly query: Query;
  readonly answer: QueryDocument;
  readonly chains: Chains;
}

/** An answer as a chart reads it: a value for each series at each place of x. */
interface Plotted {
  readonly xs: readonly Value[];
  readonly series: readonly Series[];
}

const sumOf = (values: Iterable<number | null>): number =>
  Iterator.from(values).reduce((sum: number, value) => sum + (value ?? 0), 0);

/**
 * The values of the largest series one by one, and of the others together: a chart has so many colours. Of rows
 * that share x and series, such as one for each chain, the sum is drawn.
 */
function plotted({ answer, query: { chart }, chains }: AnswerProps): Plotted {
  if (chart === null) return { xs: [], series: [] };
  const index = (name: string | null) => answer.columns.findIndex((column) => column.name === name);
  const [xAt, yAt, seriesAt] = [index(chart.x), index(chart.y), index(chart.series)];
  const sums = new Map<string, Map<Value, number>>();
  for (const row of answer.rows) {
    const name = seriesAt < 0 ? chart.y : show(row[seriesAt] ?? null, chart.series ?? '', chains);
    const values = sums.get(name) ?? new Map<Value, number>();
    const x = row[xAt] ?? null;
    sums.set(name, values.set(x, (values.get(x) ?? 0) + Number(row[yAt] ?? 0)));
  }
  const ranked = [...sums].sort(([, a], [, b]) => sumOf(b.values()) - sumOf(a.values()));
  const named = ranked.length > colours ? ranked.slice(0, colours - 1) : ranked;
  const others = ranked.slice(named.length).map(([, values]) => values);
  const xs = [...new Set([...sums.values()].flatMap((values) => [...values.keys()]))];
  if (isTime(answer.columns[xAt]?.type)) xs.sort((a, b) => String(a).localeCompare(String(b)));
  const series = named.map(([label, values]) => ({
    label,
    values: xs.map((x) => values.get(x) ?? null),
  }));
  if (others.length === 0) return { xs, series };
  const rest = xs.map((x) => sumOf(others.map((values) => values.get(x) ?? 0)));
  return { xs, series: [...series, { label: counted(others.length, 'other'), values: rest }] };
}

/** Each place of x as parts of 100. */
function sharesOf({ xs, series }: Plotted): readonly Series[] {
  const totals = xs.map((_, at) => sumOf(series.map(({ values }) => values[at] ?? 0)) || 1);
  const share = (value: number | null, at: number) => (100 * (value ?? 0)) / (totals[at] ?? 1);
  return series.map(({ label, values }) => ({ label, values: values.map(share) }));
}

/** Bars that lie, for places of x that are names. */
function Bars({ xs, series, nameOf }: Plotted & { nameOf: (x: Value) => string }) {
  const sums = xs.map((_, at) => sumOf(series.map(({ values }) => values[at] ?? 0)));
  const most = Math.max(...sums, 1);
  return (
    <ol class="bars">
      {sums.slice(0, mostBars).map((sum, at) => (
        <li key={at}>
          <span>{nameOf(xs[at] ?? null)}</span>
          <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect fill="var(--series-0)" width={(100 * sum) / most} height={10} />
          </svg>
          <b>{cell(sum)}</b>
        </li>
      ))}
    </ol>
  );
}

function Drawing(props: AnswerProps) {
  const { query, answer, chains } = props;
  const { chart } = query;
  const drawn = useMemo(() => plotted(props), [answer, chains]);
  const times = useMemo(() => drawn.xs.map((x) => Date.parse(String(x))), [drawn]);
  const shares = useMemo(() => sharesOf(drawn), [drawn]);
  const type = answer.columns.find(({ name }) => name === chart?.x)?.type;
  if (chart === null || answer.rows.length === 0) return null;
  if (!isTime(type)) return <Bars {...drawn} nameOf={(x) => show(x, chart.x, chains)} />;
  const isShare = chart.kind === 'shares';
  const isPercent = isShare || chart.unit === '%';
  const kind = isShare || (chart.kind === 'bars' && drawn.series.length > 1) ? 'stack' : chart.kind;
  return (
    <TimeChart
      label={query.title}
      times={times}
      series={isShare ? shares : drawn.series}
      kind={kind === 'shares' ? 'stack' : kind}
      format={(value) => (isPercent ? `${decimal(value)} %` : compact(value))}
      isDaily={type === 'date'}
      {...(isShare && { most: 100 })}
    />
  );
}

function Rows({ answer: { columns, rows }, chains }: AnswerProps) {
  const shown = columns.map(({ name, type }, at) => ({
    name: name === 'chain_id' ? 'chain' : name,
    of: (row: readonly Value[]) => show(row[at] ?? null, name, chains),
    ...(isNumeric(type) && name !== 'chain_id' && { as: 'number' as const }),
  }));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rows">
      <Table class="plain" columns={shown} rows={rows.slice(0, mostRows)} keyOf={(_, at) => at} />
    </div>
  );
}

function Chosen({ query, chains }: Omit<AnswerProps, 'answer'>) {
  const { name } = query;
  const answer = useJson<QueryDocument>('query.json', { name }, null);
  const [failure, setFailure] = useState<Problem | null>(null);
  const save = () => void download('query.csv', { name }, `${name}.csv`).then(setFailure);
  const button = (
    <button type="button" onClick={save}>
      Download CSV
    </button>
  );
  return (
    <Card title={query.title} aside={button} tone="answer">
      {failure !== null && <p role="alert">{failure.sentence}</p>}
      <Loaded answer={answer}>
        {(data) => (
          <>
            <Drawing query={query} answer={data} chains={chains} />
            <p class="quiet" role="status">
              {data.is_cut && 'The first '}
              {counted(data.rows.length, 'row')}
              {data.rows.length > mostRows && `, ${mostRows} of them below`}, {count(data.ms)} ms
            </p>
            <Rows query={query} answer={data} chains={chains} />
          </>
        )}
      </Loaded>
      <details>
        <summary>SQL</summary>
        <pre>{query.sql}</pre>
      </details>
    </Card>
  );
}

const Dictionary = ({ relations }: { readonly relations: QueriesDocument['dictionary'] }) => (
  <Card title="Tables and columns">
    {relations.map(({ relation, comment, columns }) => (
      <details key={relation}>
        <summary>
          <code>{relation}</code> {comment}
        </summary>
        <Facts
          facts={columns.map((column) => [`${column.name} ${column.type}`, column.comment || '–'])}
        />
      </details>
    ))}
  </Card>
);

interface ExploreProps {
  readonly name: string;
  readonly status: StatusDocument;
}

/** Named queries with their charts, their SQL and what the tables mean. */
export function Explore({ name, status: { feeds } }: ExploreProps) {
  const answer = useJson<QueriesDocument>('queries.json', {}, null);
  const names = feeds.map((feed) => `${feed.chain_id} ${feed.chain_name}`).join('\n');
  const chains = useMemo(
    () => new Map(feeds.map((feed) => [String(feed.chain_id), feed.chain_name])),
    [names],
  );
  return (
    <Loaded answer={answer}>
      {({ queries, dictionary }) => {
        const wanted = (of: string) => queries.find((query) => query.name === of);
        const chosen = wanted(name) ?? wanted(firstQuery) ?? queries[0];
        return (
          <>
            <h1 class="hidden">Explore</h1>
            <nav aria-label="Queries">
              {[...Map.groupBy(queries, ({ topic }) => topic)].map(([topic, of]) => (
                <p key={topic} class="row topic">
                  <span class="quiet">{topic}</span>
                  {of.map((query) => (
                    <a
                      key={query.name}
                      class="button"
                      href={`#/explore/${query.name}`}
                      aria-current={query === chosen ? 'page' : undefined}
                    >
                      {query.name.replaceAll('-', ' ')}
                    </a>
                  ))}
                </p>
              ))}
            </nav>
            {chosen !== undefined && <Chosen key={chosen.name} query={chosen} chains={chains} />}
            <Dictionary relations={dictionary} />
          </>
        );
      }}
    </Loaded>
  );
}
