import { useMemo, useState } from 'preact/hooks';
import type { QueriesDocument, QueryDocument } from '../status/endpoints.ts';
import type { StatusDocument } from '../status/schema.ts';
import { download, once, problemOf, useJson } from './api.ts';
import { mostSeries, NamedBars, TimeChart } from './charts.tsx';
import { cell, compact, count, counted, decimal } from './format.ts';
import { Card, Facts, Loaded, Table, type Column, type ViewProps } from './parts.tsx';

type Query = QueriesDocument['queries'][number];
type Row = QueryDocument['rows'][number];
type Chains = StatusDocument['feeds'];

/** What Explore opens with. */
const firstQuery = 'operations-daily';
const mostRows = 200;
const mostBars = 25;

const isNumeric = (type: string): boolean => /int|numeric|float|double|real|decimal/u.test(type);

/** A value for people: chains by their names, digits in groups. */
const show = (value: Row[number], name: string, chains: Chains): string =>
  name === 'chain_id'
    ? (chains.find((each) => String(each.chain_id) === String(value))?.chain_name ?? String(value))
    : cell(value);

interface DrawingProps {
  readonly answer: QueryDocument;
  readonly title: string;
  readonly chart: NonNullable<Query['chart']>;
  readonly chains: Chains;
}

/** Reads a value, and the same for people, of a row by the name of its column; null: there is none. */
function readersOf({ answer: { columns }, chains }: DrawingProps) {
  const value = (row: Row, name: string | null) =>
    row[columns.findIndex((each) => each.name === name)] ?? null;
  const text = (row: Row, name: string | null) =>
    name === null || value(row, name) === null ? '' : show(value(row, name), name, chains);
  return { value, text };
}

interface Point {
  readonly x: string;
  readonly y: number;
}

function sumsByX(points: readonly Point[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { x, y } of points) sums.set(x, (sums.get(x) ?? 0) + y);
  return sums;
}

const total = (points: readonly Point[]): number => points.reduce((sum, { y }) => sum + y, 0);

/**
 * The series of an answer over time: the largest one by one, and the others together, because a chart has so many
 * colours. Counts of several chains add up, unless the chain is the series; parts of 100 do not.
 */
function plotted(props: DrawingProps) {
  const { answer, chart } = props;
  const { value, text } = readersOf(props);
  const names = new Set(chart.unit === '%' ? ['chain_id', chart.series] : [chart.series]);
  const points = answer.rows.map((row) => ({
    x: String(value(row, chart.x)),
    y: Number(value(row, chart.y) ?? 0),
    name:
      [...names]
        .map((name) => text(row, name))
        .join(' ')
        .trim() || chart.y,
  }));
  const ranked = [...Map.groupBy(points, ({ name }) => name)];
  ranked.sort(([, a], [, b]) => total(b) - total(a));
  const others = ranked.splice(ranked.length > mostSeries ? mostSeries - 1 : mostSeries);
  if (others.length > 0) {
    ranked.push([counted(others.length, 'other'), others.flatMap(([, own]) => own)]);
  }
  const whole = sumsByX(points);
  const xs = [...whole.keys()].sort();
  const series = ranked.map(([label, own]) => {
    const sums = sumsByX(own);
    const share = (x: string) => (100 * (sums.get(x) ?? 0)) / (whole.get(x) || 1);
    return {
      label,
      values: xs.map((x) => (chart.kind === 'shares' ? share(x) : (sums.get(x) ?? null))),
    };
  });
  return { times: xs.map((x) => Date.parse(x)), series };
}

function Drawing(props: DrawingProps) {
  const { answer, chart, title } = props;
  const plot = useMemo(() => plotted(props), [answer]);
  if (answer.rows.length === 0) return null;
  const type = answer.columns.find(({ name }) => name === chart.x)?.type ?? '';
  if (/^(?:date|timestamp)/u.test(type)) {
    const isPercent = chart.kind === 'shares' || chart.unit === '%';
    const format = (value: number) => (isPercent ? `${decimal(value)} %` : compact(value));
    return <TimeChart label={title} {...plot} kind={chart.kind} format={format} />;
  }
  const { value, text } = readersOf(props);
  const bars = answer.rows.slice(0, mostBars).map((row) => ({
    name: text(row, chart.x) || (row.find((each) => typeof each === 'string') ?? ''),
    note: text(row, chart.series),
    value: Number(value(row, chart.y)),
  }));
  return <NamedBars bars={bars} />;
}

function Rows({ answer: { columns, rows }, chains }: Pick<DrawingProps, 'answer' | 'chains'>) {
  const shown = columns.map(({ name, type }, at): Column<Row> => {
    const isChain = name === 'chain_id';
    const of = (row: Row) => show(row[at] ?? null, name, chains);
    return [isChain ? 'chain' : name, of, isNumeric(type) && !isChain ? 'number' : undefined];
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rows">
      <Table class="plain" columns={shown} rows={rows.slice(0, mostRows)} />
    </div>
  );
}

function Chosen({ query, chains }: { readonly query: Query; readonly chains: Chains }) {
  const { name, title, chart, sql } = query;
  const answer = useJson<QueryDocument>('query.json', { name }, once);
  const [failure, setFailure] = useState<string | null>(null);
  const save = () => {
    setFailure(null);
    download('query.csv', { name }, `${name}.csv`).catch((error) => setFailure(problemOf(error)));
  };
  const button = (
    <button type="button" onClick={save}>
      Download CSV
    </button>
  );
  return (
    <Card title={title} aside={button} class="answer">
      {failure !== null && <p role="alert">{failure}</p>}
      <Loaded {...answer}>
        {(data) => (
          <>
            {chart !== null && <Drawing {...{ answer: data, title, chart, chains }} />}
            <p class="quiet" role="status">
              {data.is_cut && 'The first '}
              {counted(data.rows.length, 'row')}
              {data.rows.length > mostRows && `, ${mostRows} of them below`}, {count(data.ms)} ms
            </p>
            <Rows answer={data} chains={chains} />
          </>
        )}
      </Loaded>
      <details>
        <summary>SQL</summary>
        <pre>{sql}</pre>
      </details>
    </Card>
  );
}

const Dictionary = ({ relations }: { readonly relations: QueriesDocument['dictionary'] }) => (
  <details class="card">
    <summary>Tables and columns ({relations.length})</summary>
    {relations.map(({ relation, comment, columns }) => (
      <details key={relation}>
        <summary>
          <code>{relation}</code> {comment}
        </summary>
        <Facts facts={columns.map((each) => [`${each.name} ${each.type}`, each.comment || '–'])} />
      </details>
    ))}
  </details>
);

/** Named queries by topic, with their charts, their SQL and what the tables mean. */
export function Explore({ name, status: { feeds } }: ViewProps) {
  const answer = useJson<QueriesDocument>('queries.json', {}, once);
  const { queries = [], dictionary = [] } = answer.data ?? {};
  const chosen = [name, firstQuery]
    .map((wanted) => queries.find((query) => query.name === wanted))
    .find((query) => query !== undefined);
  const link = (query: Query) => {
    const [href, text] = [`#/explore/${query.name}`, query.name.replaceAll('-', ' ')];
    const current = query === chosen ? 'page' : undefined;
    return <a key={href} class="button" href={href} aria-current={current} children={text} />;
  };
  return (
    <>
      <h1 class="hidden">Explore</h1>
      <Loaded {...answer}>
        {() => (
          <>
            <nav aria-label="Queries">
              {[...Map.groupBy(queries, ({ topic }) => topic)].map(([topic, of]) => (
                <div key={topic} class="row topic">
                  <span class="quiet">{topic}</span>
                  {of.map(link)}
                </div>
              ))}
            </nav>
            {chosen !== undefined && <Chosen key={chosen.name} query={chosen} chains={feeds} />}
            <Dictionary relations={dictionary} />
          </>
        )}
      </Loaded>
    </>
  );
}
