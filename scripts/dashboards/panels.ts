import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

const plugin = 'grafana-postgresql-datasource';

/** A statement for Grafana's Postgres data source, which the SDK has no type of. */
class SqlQuery implements Builder<Dataquery> {
  readonly #rawSql: string;
  readonly #format: 'time_series' | 'table';

  constructor(rawSql: string, format: 'time_series' | 'table') {
    this.#rawSql = rawSql;
    this.#format = format;
  }

  build(): Dataquery {
    const query = {
      refId: 'A',
      datasource: { type: plugin, uid: '${datasource}' },
      editorMode: 'code',
      format: this.#format,
      rawQuery: true,
      rawSql: this.#rawSql,
      _implementsDataqueryVariant() {},
    };
    return query;
  }
}

/** What every panel has: its title, what it shows in a sentence, its statement, its unit of Grafana. */
export interface PanelText {
  readonly title: string;
  readonly about: string;
  readonly sql: string;
  readonly unit?: string;
}

/** Columns of a row of panels; Grafana has 24. */
const half = 12;
const height = 8;

const timeChart = ({ title, about, unit = 'short' }: Omit<PanelText, 'sql'>) =>
  new timeseries.PanelBuilder()
    .title(title)
    .description(about)
    .unit(unit)
    .span(half)
    .height(height);

/** A chart of metrics over time: a line for each series, named by its labels as `legend` has them. */
export const series = (text: Omit<PanelText, 'sql'>, expr: string, legend: string) =>
  timeChart(text)
    .min(0)
    .withTarget(
      new prometheus.DataqueryBuilder()
        .refId('A')
        .datasource({ type: 'prometheus', uid: '${datasource}' })
        .expr(expr)
        .legendFormat(legend),
    );

/** A chart over time: column `time`, `metric` where there are several lines, and the value. */
export const lines = ({ sql, ...text }: PanelText) =>
  timeChart(text).fillOpacity(10).withTarget(new SqlQuery(sql, 'time_series'));

/** The same as bars that stand on each other. */
export const bars = (text: PanelText) =>
  lines(text)
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(80)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal));

/** Rows as they are. A column `link` is not shown: the cells of its row lead there. */
export const rows = ({ title, about, sql, unit = 'short' }: PanelText) => {
  const panel = new table.PanelBuilder()
    .title(title)
    .description(about)
    .unit(unit)
    .span(half)
    .height(height)
    .withTarget(new SqlQuery(sql, 'table'));
  if (!/ as link\b/u.test(sql)) return panel;
  const link = new DashboardLinkBuilder('Open in the explorer')
    .url('${__data.fields.link}')
    .targetBlank(true);
  return panel.dataLinks([link]).overrideByName('link', [{ id: 'custom.hidden', value: true }]);
};

/** One number; grey, unless it is one that is orange from `tooMany` on. */
export const number = ({ title, about, sql, unit = 'short' }: PanelText, tooMany?: number) => {
  const panel = new stat.PanelBuilder()
    .title(title)
    .description(about)
    .unit(unit)
    .span(half / 2)
    .height(height / 2)
    .graphMode(BigValueGraphMode.None)
    .withTarget(new SqlQuery(sql, 'table'));
  // Grafana's own thresholds paint every number from 80 on red.
  if (tooMany === undefined) return panel.colorMode(BigValueColorMode.None);
  const steps = [
    { value: null, color: 'green' },
    { value: tooMany, color: 'orange' },
  ];
  return panel.thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps));
};

/** One number for each row, under the row's text. */
export const numbers = (text: PanelText) =>
  number(text).reduceOptions(new ReduceDataOptionsBuilder().values(true).calcs([]).fields(''));

export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly about: string;
  /** What is shown before somebody chooses, such as now-30d. */
  readonly from: string;
  readonly panels: readonly ReturnType<
    typeof lines | typeof rows | typeof number | typeof series
  >[];
}

/** A dashboard over one data source; the boards of a database also over the chains that a person chooses. */
export function dashboard({ uid, title, about, from, panels }: Board, source = plugin) {
  const isOfDatabase = source === plugin;
  const builder = new DashboardBuilder(title)
    .uid(`explorer-etl-${uid}`)
    .description(about)
    .tags(['explorer-etl'])
    .timezone('utc')
    .time({ from, to: 'now' })
    .refresh('5m')
    .link(
      new DashboardLinkBuilder('explorer-etl')
        .type(DashboardLinkType.Dashboards)
        .tags(['explorer-etl'])
        .includeVars(isOfDatabase)
        .keepTime(true),
    )
    .withVariable(
      new DatasourceVariableBuilder('datasource')
        .label(isOfDatabase ? 'Database' : 'Metrics')
        .type(source),
    );
  if (isOfDatabase) builder.withVariable(chains).annotation(runs);
  for (const panel of panels) builder.withPanel(panel);
  return builder.build();
}

/** Live runs are not marked: there is one every few minutes. */
const runs = new AnnotationQueryBuilder()
  .name('History downloaded')
  .datasource({ type: plugin, uid: '${datasource}' })
  .enable(true)
  .iconColor('blue')
  .target(
    new SqlQuery(
      `select walk_started_at as time, max(fetched_at) as timeend,
         chains.name || '/' || operation || ': ' || count(*) || ' pages' as text
  from explorer.provenance join explorer.chains using (chain_id)
  where $__timeFilter(walk_started_at) and chain_id in ($chain) and lane = 'backfill'
  group by walk_id, walk_started_at, chains.name, operation
  order by walk_started_at desc
  limit 100`,
      'table',
    ),
  );

/** All of them at first. */
const chains = new QueryVariableBuilder('chain')
  .label('Chain')
  .datasource({ type: plugin, uid: '${datasource}' })
  .query('select name as __text, chain_id as __value from explorer.chains order by name')
  .refresh(VariableRefresh.OnDashboardLoad)
  .multi(true)
  .includeAll(true)
  .current({ text: 'All', value: '$__all' });

/** As SQL of Grafana: the days and chains that are shown. */
export const ofDays = `day between ($__timeFrom()::timestamptz at time zone 'UTC')::date
                  and ($__timeTo()::timestamptz at time zone 'UTC')::date
    and chain_id in ($chain)`;
/** As SQL: a currency by its symbol; one without a symbol by its chain, because it is added to no other. */
export const currency = (of: string) => `coalesce(${of}.native_symbol, chains.name)`;
/** As SQL: a chain and the currency that it counts in. */
export const chainAndCurrency = (of: string) => `concat_ws(', ', chains.name, ${of}.native_symbol)`;
/** As SQL: a day as the time at which it begins, UTC. */
export const ofDay = `day::timestamp at time zone 'UTC'`;
