/** What Grafana's own schema, the types of `@grafana/schema`, allows in a dashboard of stats, graphs, tables and texts. */
import type {
  DataQuery,
  DataSourceRef,
  FieldConfig as StandardConfig,
  ThresholdsConfig,
  ValueMapping,
} from '@grafana/schema';
import type { CloudWatchMetricsQuery } from '@grafana/schema/dist/esm/raw/composable/cloudwatch/dataquery/x/CloudWatchDataQuery_types.gen';
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type {
  FieldConfig as TableConfig,
  Options as TableOptions,
} from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type { Options as TextOptions } from '@grafana/schema/dist/esm/raw/composable/text/panelcfg/x/TextPanelCfg_types.gen';
import type {
  FieldConfig as GraphConfig,
  Options as GraphOptions,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type {
  AnnotationQuery,
  Dashboard,
  MatcherConfig,
  Panel,
  RowPanel,
} from '@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen';

/** The same as JSON has it: an enum's values in place of its names. */
type Json<T> = T extends string
  ? `${T}`
  : T extends number
    ? number extends T
      ? number
      : `${T}` extends `${infer N extends number}`
        ? N
        : never
    : T extends readonly (infer U)[]
      ? Json<U>[]
      : T extends object
        ? { [K in keyof T]: Json<T[K]> }
        : T;

/** The lowest threshold has no number, which JSON writes as null. */
interface Thresholds {
  mode: `${ThresholdsConfig['mode']}`;
  steps: { value: number | null; color: string }[];
}

type Defaults<C> = Json<Omit<StandardConfig, 'custom' | 'thresholds' | 'mappings' | 'links'>> & {
  custom?: Json<C>;
  thresholds?: Thresholds;
  mappings?: Json<ValueMapping>[];
  links?: Link[];
};

interface Link {
  title: string;
  url: string;
  targetBlank?: boolean;
}

type Property<C> =
  | { [K in keyof C & string]: { id: `custom.${K}`; value: Json<C[K]> } }[keyof C & string]
  | { [K in keyof Defaults<C> & string]: { id: K; value: Defaults<C>[K] } }[Exclude<
      keyof Defaults<C> & string,
      'custom'
    >];

interface Config<C> {
  defaults: Defaults<C>;
  overrides: { matcher: Json<MatcherConfig>; properties: Property<C>[] }[];
}

/** Of the Prometheus data source, whose types are in no package. */
interface PrometheusQuery extends DataQuery {
  expr: string;
  instant?: boolean;
  range?: boolean;
  legendFormat?: string;
  format?: 'time_series' | 'table' | 'heatmap';
  editorMode?: 'code' | 'builder';
}

type Query = Json<(CloudWatchMetricsQuery | PrometheusQuery) & { datasource: DataSourceRef }>;

type Drawn<T extends string, O, C> = Omit<Json<Panel>, 'type' | 'options' | 'fieldConfig' | 'targets'> & {
  type: T;
  options: Json<O>;
  fieldConfig: Config<C>;
  targets: Query[];
};

type AnyPanel =
  | Drawn<'stat', StatOptions, Record<never, never>>
  | Drawn<'timeseries', GraphOptions, GraphConfig>
  | Drawn<'table', TableOptions, Partial<TableConfig>>
  | (Omit<Json<Panel>, 'type' | 'options' | 'fieldConfig'> & { type: 'text'; options: Json<TextOptions> })
  | Json<RowPanel>;

/** Those of Prometheus have their query beside them. */
type Annotation = Json<AnnotationQuery> & { expr?: string; step?: string; titleFormat?: string; textFormat?: string };

export type Board = Omit<Json<Dashboard>, 'panels' | 'annotations'> & {
  panels: AnyPanel[];
  annotations: { list: Annotation[] };
};
