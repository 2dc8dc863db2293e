import { useMemo, useState } from 'preact/hooks';
import type { QueriesDocument, QueryDocument } from '../status/endpoints.ts';
import type { StatusDocument } from '../status/schema.ts';
import { download, useJson, type Problem } from './api.ts';
import { Card, Facts, Loaded } from './card.tsx';
import { palette, TimeChart } from './charts.tsx';
import { cell, compact, count, counted, decimal } from './format.ts';
import { Table, type Column } from './table.tsx';

type Query = QueriesDocument['queries'][number];
type Value = QueryDocument['rows'][number][number];
/** Which chain has which name. */
type Chains = StatusDocument['feeds'];

/** What Explore opens with. */
const firstQuery = 'operations-daily';
const mostRows = 200;
const mostBars = 25;
const colours = palette.length;

const isNumeric = (type: string): boolean => /int|numeric|float|double|real|decimal/u.test(type);

/** A value for people: chains by their names, digits in groups. */
const show = (value: Value, name: string, chains: Chains): string =>
  name === 'chain_id'
    ? (chains.find((each) => String(each.chain_id) === String(value))?.chain_name ?? String(value))
    : cell(value);

interface AnswerProps {
  readonly query: Query;
  readonly answer: QueryDocument;
  readonly chains: Chains;
}

const column = ({ columns }: QueryDocument, name: string | null): number =>
  columns.findIndex((each) => each.name === name);

interface Point {
  readonly x: string;
  readonly y: number;
  readonly name: string;
}

const sum = (points: readonly Point[]): number => points.reduce((total, { y }) => total + y, 0);

const atX = (of: readonly Point[], x: string) => of.filter((point) => point.x === x);

/**
 * The points of an answer over time: the largest series one by one, and the others together, because a chart has
 * so many colours. Counts of several chains add up, unless the chain is the series; parts of 100 do not.
 */
function plotted({ answer, query: { chart }, chains }: AnswerProps) {
  const [x, y] = [column(answer, chart?.x ?? null), column(answer, chart?.y ?? null)];
  const names = chart?.unit === '%' ? new Set(['chain_id', chart.series]) : [chart?.series ?? null];
  const named = [...names].filter((name) => column(answer, name) >= 0);
  const points = answer.rows.map((row) => ({
    x: String(row[x]),
    y: Number(row[y] ?? 0),
    name: named
      .map((name) => show(row[column(answer, name)] ?? null, name ?? '', chains))
      .join(' '),
  }));
  const xs = [...new Set(points.map((point) => point.x))].sort();
  const ranked = [...Map.groupBy(points, ({ name }) => name || (chart?.y ?? ''))];
  ranked.sort(([, a], [, b]) => sum(b) - sum(a));
  const others = ranked.splice(ranked.length > colours ? colours - 1 : colours);
  if (others.length > 0) {
    ranked.push([counted(others.length, 'other'), others.flatMap(([, own]) => own)]);
  }
  const isShare = chart?.kind === 'shares';
  const valueOf = (own: readonly Point[], at: string) => {
    if (isShare) return (100 * sum(atX(own, at))) / (sum(atX(points, at)) || 1);
    return own.some((point) => point.x === at) ? sum(atX(own, at)) : null;
  };
  const series = ranked.map(([label, own]) => ({
    label,
    values: xs.map((at) => valueOf(own, at)),
  }));
  return { times: xs.map((at) => Date.parse(at)), series };
}

/** Bars that lie, for rows that have names and no times. */
function Bars({ query: { chart }, answer, chains }: AnswerProps) {
  const [x, y, series] = [chart?.x, chart?.y, chart?.series].map((name) =>
    column(answer, name ?? null),
  );
  const rows = answer.rows.slice(0, mostBars).map((row) => {
    const name = row[x ?? -1] ?? row.find((value) => typeof value === 'string') ?? '';
    const own = row[series ?? -1] ?? null;
    const beside = own === null ? '' : show(own, chart?.series ?? '', chains);
    return { name: show(name, chart?.x ?? '', chains), beside, value: Number(row[y ?? -1] ?? 0) };
  });
  const most = Math.max(...rows.map(({ value }) => value), 1);
  return (
    <ol class="bars">
      {rows.map(({ name, beside, value }, at) => (
        <li key={at}>
          <span>
            {name} <small>{beside}</small>
          </span>
          <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect fill={palette[0]} width={(100 * value) / most} height={10} />
          </svg>
          <b>{cell(value)}</b>
        </li>
      ))}
    </ol>
  );
}

function Drawing(props: AnswerProps) {
  const { query, answer } = props;
  const { times, series } = useMemo(() => plotted(props), [answer]);
  const { chart } = query;
  const type = answer.columns[column(answer, chart?.x ?? null)]?.type ?? '';
  if (chart === null || answer.rows.length === 0) return null;
  if (!/^(?:date|timestamp)/u.test(type)) return <Bars {...props} />;
  const isShare = chart.kind === 'shares';
  const isPercent = isShare || chart.unit === '%';
  return (
    <TimeChart
      label={query.title}
      times={times}
      series={series}
      kind={chart.kind === 'line' ? 'line' : 'bars'}
      format={(value) => (isPercent ? `${decimal(value)} %` : compact(value))}
      isDaily={type === 'date'}
      {...(isShare && { most: 100 })}
    />
  );
}

function Rows({ answer: { columns, rows }, chains }: AnswerProps) {
  const shown = columns.map(({ name, type }, at): Column<readonly Value[]> => {
    const isChain = name === 'chain_id';
    const of = (row: readonly Value[]) => show(row[at] ?? null, name, chains);
    return [isChain ? 'chain' : name, of, isNumeric(type) && !isChain ? 'number' : undefined];
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rows">
      <Table class="plain" columns={shown} rows={rows.slice(0, mostRows)} />
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

/** Named queries with their charts, their SQL and what the tables mean. */
export function Explore({ name, chains }: { readonly name: string; readonly chains: Chains }) {
  const answer = useJson<QueriesDocument>('queries.json', {}, null);
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
                <div key={topic} class="row topic">
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
                </div>
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
