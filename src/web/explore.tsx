import { useMemo, useState } from 'preact/hooks';
import type { QueriesDocument, QueryDocument } from '../status/endpoints.ts';
import type { StatusDocument } from '../status/schema.ts';
import { download, once, problemOf, useJson } from './api.ts';
import { Bar, mostSeries, TimeChart } from './charts.tsx';
import { cell, compact, count, counted, decimal } from './format.ts';
import { Amount, Card, Facts, Loaded, Table, type Column, type ViewProps } from './parts.tsx';

type Query = QueriesDocument['queries'][number];
type Value = QueryDocument['rows'][number][number];
type Row = Readonly<Record<string, Value>>;
type Chains = StatusDocument['feeds'];

const mostRows = 200;
/** Shown first: stored data at a glance. */
const firstQuery = 'operations-daily';

interface DrawingProps {
  readonly rows: readonly Row[];
  readonly title: string;
  readonly chart: NonNullable<Query['chart']>;
  readonly chains: Chains;
}

/** A value for people: names of chains, grouped digits. */
function show(row: Row, name: string | null, chains: Chains): string {
  const value = row[name ?? ''] ?? null;
  if (name !== 'chain_id') return cell(value);
  const id = String(value ?? '');
  return chains.find((each) => String(each.chain_id) === id)?.chain_name ?? id;
}

interface Point {
  readonly x: string;
  readonly y: number;
}

const total = (points: readonly Point[]): number => points.reduce((sum, { y }) => sum + y, 0);

const sumsByX = (points: readonly Point[]): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(points, ({ x }) => x)].map(([x, own]) => [x, total(own)]));

/**
 * The largest series, and the sum of the others: colours are limited. Adds up chains, unless they are the series or
 * the values are percentages.
 */
function plotted({ rows, chart, chains }: DrawingProps) {
  const names = chart.unit === '%' ? [...new Set(['chain_id', chart.series])] : [chart.series];
  const points = rows.map((row) => {
    const words = names.map((name) => show(row, name, chains)).filter((word) => word !== '');
    return {
      x: String(row[chart.x]),
      y: Number(row[chart.y] ?? 0),
      name: words.join(' ') || chart.y,
    };
  });
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
  const { chart, title } = props;
  const plot = useMemo(() => plotted(props), [props.rows]);
  const isPercent = chart.kind === 'shares' || chart.unit === '%';
  const format = (value: number) => (isPercent ? `${decimal(value)} %` : compact(value));
  return <TimeChart label={title} {...plot} kind={chart.kind} format={format} />;
}

/** A bar beside each row of a ranking. */
function barsOf(rows: readonly Row[], y: string): Column<Row> {
  const number = (row: Row) => Number(row[y] ?? 0);
  const most = Math.max(...rows.map(number), 1);
  return ['bar', (row) => <Bar value={number(row)} most={most} />, 'long', ''];
}

function columnsOf(columns: QueryDocument['columns'], chains: Chains) {
  return columns.map(({ name, type }): Column<Row> => {
    const isNumeric = /int|numeric|float|double|real|decimal/u.test(type) && name !== 'chain_id';
    const title = name === 'chain_id' ? 'chain' : name;
    const short = (row: Row) => {
      const exact = show(row, name, chains);
      const isAmount = name.endsWith('_native') && exact !== '';
      if (isAmount) return <Amount exact={String(row[name])} />;
      return /^0x\w{17,}$/u.test(exact) ? (
        <span class="hash" title={exact} children={exact} />
      ) : (
        exact
      );
    };
    return [title, short, isNumeric ? 'number' : undefined];
  });
}

function Result({ data, query, chains }: { data: QueryDocument; query: Query; chains: Chains }) {
  const { columns, is_cut: isCut, ms, sums } = data;
  const rows = useMemo(
    () =>
      data.rows.map((row) =>
        Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null])),
      ),
    [data],
  );
  const { title, chart } = query;
  const shown = rows.slice(0, mostRows);
  const cells = columnsOf(columns, chains);
  const type = columns.find(({ name }) => name === chart?.x)?.type ?? '';
  const isOverTime = /^(?:date|timestamp)/u.test(type);
  const isRanking = chart !== null && !isOverTime;
  if (isRanking) cells.unshift(barsOf(shown, chart.y));
  return (
    <>
      {chart !== null && isOverTime && rows.length > 0 && (
        <Drawing {...{ rows, title, chart, chains }} />
      )}
      <p class="quiet" role="status">
        {isCut && 'The first '}
        {counted(rows.length, 'row')}
        {rows.length > mostRows && `, ${mostRows} of them below`}, {count(ms)} ms
        {sums !== null && `, ${sums.sentence}`}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Rows">
        <Table class={`stacked ${isRanking ? 'bars' : 'plain'}`} columns={cells} rows={shown} />
      </div>
    </>
  );
}

function Chosen({ query, chains }: { readonly query: Query; readonly chains: Chains }) {
  const { name, title, sql } = query;
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
    <Card title={title} aside={button}>
      {failure !== null && <p role="alert">{failure}</p>}
      <Loaded {...answer}>{(data) => <Result data={data} query={query} chains={chains} />}</Loaded>
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

/** Named queries by topic, with charts, SQL and the tables' documentation. */
export function Explore({ name, status: { feeds } }: ViewProps) {
  const answer = useJson<QueriesDocument>('queries.json', {}, once);
  const { queries = [], dictionary = [] } = answer.data ?? {};
  const chosen = queries.find((query) => query.name === (name || firstQuery)) ?? queries[0];
  const link = (query: Query) => {
    const [href, text] = [`#/explore/${query.name}`, query.name.replaceAll('-', ' ')];
    const current = query === chosen ? 'page' : undefined;
    return <a key={href} class="button" href={href} aria-current={current} children={text} />;
  };
  return (
    <Loaded {...answer}>
      {() => (
        <>
          <nav class="topics" aria-label="Queries">
            {[...Map.groupBy(queries, ({ topic }) => topic)].map(([topic, of]) => (
              <div key={topic} class="row">
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
  );
}
