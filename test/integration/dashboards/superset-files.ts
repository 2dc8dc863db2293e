import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

const folder = join(import.meta.dirname, '../../../dashboards/superset');

interface Dataset {
  readonly table_name: string;
  readonly uuid: string;
  readonly database_uuid: string;
  readonly main_dttm_col: string | null;
  readonly sql: string;
  readonly columns: readonly { readonly column_name: string; readonly type: string }[];
  readonly metrics: readonly { readonly metric_name: string; readonly expression: string }[];
}

interface Chart {
  readonly slice_name: string;
  readonly uuid: string;
  readonly dataset_uuid: string;
  readonly params: {
    readonly metric?: string;
    readonly metrics?: readonly string[];
    readonly groupby?: readonly string[];
    readonly x_axis?: string;
    readonly all_columns?: readonly string[];
    readonly order_by_cols?: readonly string[];
    readonly adhoc_filters?: readonly { readonly subject: string }[];
  };
}

interface Dashboard {
  readonly uuid: string;
  readonly position: Readonly<Record<string, { readonly meta?: { readonly uuid?: string } }>>;
  readonly metadata: {
    readonly native_filter_configuration: readonly {
      readonly targets: readonly {
        readonly datasetUuid?: string;
        readonly column?: { readonly name: string };
      }[];
    }[];
  };
}

/** All files of a kind, as Superset imports them. */
async function read<Kind>(kind: string): Promise<Kind[]> {
  const names = await readdir(join(folder, kind), { recursive: true });
  const files = names.filter((name) => name.endsWith('.yaml')).toSorted();
  return Promise.all(
    files.map(async (name) => parse(await readFile(join(folder, kind, name), 'utf8')) as Kind),
  );
}

export const [datasets, charts, [dashboard], [connection]] = await Promise.all([
  read<Dataset>('datasets'),
  read<Chart>('charts'),
  read<Dashboard>('dashboards'),
  read<{ readonly uuid: string; readonly sqlalchemy_uri: string }>('databases'),
]);

export const datasetOf = ({ dataset_uuid: uuid }: Pick<Chart, 'dataset_uuid'>): Dataset => {
  const found = datasets.find((dataset) => dataset.uuid === uuid);
  if (found === undefined) throw new Error(`there is no dataset ${uuid}`);
  return found;
};

/** The columns that a chart groups by, and those that it shows. */
export function columnsOf({ params }: Chart): {
  readonly grouped: string[];
  readonly shown: string[];
} {
  const grouped = [
    ...(params.x_axis === undefined ? [] : [params.x_axis]),
    ...(params.groupby ?? []),
  ];
  return { grouped, shown: [...grouped, ...(params.all_columns ?? [])] };
}

/**
 * The statement that Superset makes of a chart.
 *
 * @throws where the chart has a metric that its dataset lacks
 */
export function statementOf(chart: Chart, condition = 'true'): string {
  const { sql, metrics } = datasetOf(chart);
  const { params } = chart;
  const { grouped, shown } = columnsOf(chart);
  const names = [
    ...(params.metrics ?? []),
    ...(params.metric === undefined ? [] : [params.metric]),
  ];
  const expressions = names.map((name) => {
    const metric = metrics.find(({ metric_name: known }) => known === name);
    if (metric === undefined) throw new Error(`${chart.slice_name} has no metric ${name}`);
    return `${metric.expression} as ${name}`;
  });
  return `select ${[...shown, ...expressions].join(', ')} from (${sql}) as requested where ${condition}
     ${grouped.length > 0 ? `group by ${grouped.join(', ')}` : ''}`;
}
