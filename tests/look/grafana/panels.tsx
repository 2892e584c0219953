/** Number, graph and table, each by Grafana's component, from data frames and the panel's own JSON. */
import {
  type DataFrame,
  type DataTransformerConfig,
  EventBusSrv,
  type FieldConfigPropertyItem,
  FieldConfigOptionsRegistry,
  FieldType,
  type GrafanaTheme2,
  type InterpolateFunction,
  type TimeRange,
  applyFieldOverrides,
  applyNullInsertThreshold,
  cacheFieldDisplayNames,
  dataFrameFromJSON,
  dateTime,
  formattedValueToString,
  getDisplayProcessor,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  getValueFormats,
  nullToValue,
  renderTextPanelMarkdown,
  standardTransformers,
  standardTransformersRegistry,
  transformDataFrame,
} from '@grafana/data';
import { BigValue, PanelContextProvider, TimeSeries, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { useEffect, useMemo, useState } from 'react';
import type uPlot from 'uplot';
import type { PanelLook } from './board';
import { replacer } from './variables';

/** In milliseconds since the epoch. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

interface Drawn {
  readonly look: PanelLook;
  readonly width: number;
  readonly height: number;
  readonly theme: GrafanaTheme2;
}

const TIME_ZONE = 'utc';
const UNITS = new Set(getValueFormats().flatMap((group) => group.submenu?.map((unit) => unit.value) ?? []));
const KINDS = { stat: Stat, timeseries: Graph, table: Table, text: Words };

// Some have two names.
const transformers = [...new Map(Object.values(standardTransformers).map((one) => [one.id, one])).values()];
standardTransformersRegistry.setInit(() =>
  transformers.map(
    (transformation) => ({ ...transformation, transformation: async () => transformation, editor: null }) as never,
  ),
);

export function Panel(drawn: Drawn) {
  const { look, theme } = drawn;
  const Kind = KINDS[look.panel.type as keyof typeof KINDS];
  if (!Kind)
    throw new Error(`a panel of the kind ${look.panel.type} is not drawn here, only ${Object.keys(KINDS).join(', ')}`);
  for (const { id } of (look.panel as unknown as { transformations?: DataTransformerConfig[] }).transformations ?? []) {
    if (!standardTransformersRegistry.getIfExists(id)) throw new Error(`Grafana has no transformation ${id}`);
  }
  const replace = replacer(look.variables);
  if (Kind === Words) return <Words {...drawn} frames={[]} replace={replace} />;
  const frames = useFrames(look, theme, replace);
  if (!frames) return <div data-pending />;
  return <Kind {...drawn} frames={frames} replace={replace} />;
}

/** The frames after the panel's transformations, with units, colours, links and overrides. */
function useFrames(look: PanelLook, theme: GrafanaTheme2, replace: InterpolateFunction): DataFrame[] | undefined {
  const [frames, setFrames] = useState<DataFrame[]>();
  useEffect(() => {
    const { panel } = look;
    const configured = (data: DataFrame[]) =>
      applyFieldOverrides({
        data,
        fieldConfig: panel.fieldConfig,
        fieldConfigRegistry: registry(look),
        replaceVariables: replace,
        theme,
        timeZone: TIME_ZONE,
      });
    const steps = (panel as unknown as { transformations?: DataTransformerConfig[] }).transformations ?? [];
    // Steps see names as they are shown, so overrides come before and after.
    const begun = configured(look.frames.map((frame) => dataFrameFromJSON(frame)));
    const running = transformDataFrame(steps, begun).subscribe((data) => {
      const shown = configured(data);
      cacheFieldDisplayNames(shown);
      setFrames(shown);
    });
    return () => running.unsubscribe();
  }, [look, theme]);
  return frames;
}

/** Every property that the panel sets, as Grafana's editors would have registered it. */
function registry(look: PanelLook): FieldConfigOptionsRegistry {
  const { defaults, overrides } = look.panel.fieldConfig;
  const ids = new Set([
    ...Object.keys(defaults).filter((id) => id !== 'custom'),
    ...Object.keys(defaults.custom ?? {}).map((id) => `custom.${id}`),
    ...overrides.flatMap((rule) => rule.properties.map((property) => property.id)),
  ]);
  for (const unit of [
    defaults.unit,
    ...overrides.flatMap((rule) => rule.properties.filter(({ id }) => id === 'unit').map(({ value }) => value)),
  ]) {
    // What stands behind a number is a unit of one's own.
    if (!UNITS.has(unit) && !unit.startsWith('suffix:')) throw new Error(`Grafana has no unit ${unit}`);
  }
  const items = [...ids].map((id) => {
    const isCustom = id.startsWith('custom.');
    return {
      id,
      isCustom,
      name: id,
      path: isCustom ? id.slice('custom.'.length) : id,
      process: (value: unknown) => value,
      shouldApply: (field: { type: FieldType }) =>
        isCustom
          ? field.type !== FieldType.time
          : !['min', 'max', 'decimals'].includes(id) || field.type === FieldType.number,
    } as unknown as FieldConfigPropertyItem;
  });
  return new FieldConfigOptionsRegistry(() => items);
}

type Kind = Drawn & { readonly frames: DataFrame[]; readonly replace: InterpolateFunction };

function Stat({ look, frames, replace, width, height, theme }: Kind) {
  const { panel } = look;
  const options = panel.options as never as {
    reduceOptions: never;
    colorMode: never;
    graphMode: never;
    justifyMode: never;
    textMode: never;
    orientation: never;
    text?: never;
  };
  const values = () =>
    getFieldDisplayValues({
      fieldConfig: panel.fieldConfig,
      reduceOptions: options.reduceOptions,
      replaceVariables: replace,
      theme,
      data: frames,
      sparkline: false,
      timeZone: TIME_ZONE,
    });
  return (
    <VizRepeater
      getValues={values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      source={frames}
      renderCounter={0}
      width={width}
      height={height}
      orientation={options.orientation}
      autoGrid
      renderValue={({ value, alignmentFactors, width: own, height: tall, count }) => (
        <div data-text={formattedValueToString(value.display)} data-color={value.display.color}>
          <BigValue
            value={value.display}
            alignmentFactors={alignmentFactors}
            width={own}
            height={tall}
            count={count}
            theme={theme}
            colorMode={options.colorMode}
            graphMode={options.graphMode}
            justifyMode={options.justifyMode}
            textMode={options.textMode}
            text={options.text}
          />
        </div>
      )}
    />
  );
}

function Graph({ look, frames, width, height, theme }: Kind) {
  const range = useMemo(() => timeRange(look.range), [look]);
  const context = useMemo(() => ({ eventsScope: 'here', eventBus: new EventBusSrv() }), []);
  const lines = graphable(frames, range, theme);
  if (!lines.length) return <NoData look={look} />;
  const { legend } = look.panel.options as never as { legend: never };
  /** Says which lines have values and no place on the canvas, such as a 0 on an axis of logarithms. */
  const check = (plot: uPlot) => {
    const { top, height: tall } = plot.bbox;
    const isSeen = (value: number | null | undefined, scale: string) => {
      const at = value == null ? NaN : plot.valToPos(value, scale, true);
      return at >= top - 1 && at <= top + tall + 1;
    };
    const lost = plot.series.slice(1).filter((line, i) => {
      const values = plot.data[i + 1] as (number | null | undefined)[];
      return line.show && values.some((value) => value != null) && !values.some((value) => isSeen(value, line.scale!));
    });
    plot.root.dataset['lost'] = lost.map((line) => line.label).join(', ');
  };
  return (
    <PanelContextProvider value={context}>
      <TimeSeries
        frames={lines}
        timeRange={range}
        timeZone={TIME_ZONE}
        width={width}
        height={height}
        legend={legend}
        options={look.panel.options as never}
      >
        {(builder) => {
          builder.addHook('draw', check);
          return null;
        }}
      </TimeSeries>
    </PanelContextProvider>
  );
}

/** Frames with a time and a number, with gaps where a value is missing, and a place in the palette for each. */
function graphable(frames: DataFrame[], range: TimeRange, theme: GrafanaTheme2): DataFrame[] {
  const found = frames.flatMap((frame) => {
    const has = (type: FieldType) => frame.fields.some((field) => field.type === type);
    if (!has(FieldType.time) || !has(FieldType.number)) return [];
    const gapped = applyNullInsertThreshold({
      frame,
      refFieldPseudoMin: range.from.valueOf(),
      refFieldPseudoMax: range.to.valueOf(),
    });
    return [{ ...frame, ...nullToValue(gapped) }];
  });
  let place = 0;
  for (const field of found.flatMap((frame) => frame.fields)) {
    if (field.type !== FieldType.number) continue;
    field.state = { ...field.state, seriesIndex: place++ };
    field.display = getDisplayProcessor({ field, theme });
    field.values = field.values.map((value) => (value == null || Number.isFinite(value) ? value : null));
  }
  return found;
}

function Table({ look, frames, width, height }: Kind) {
  const [frame] = frames;
  const options = look.panel.options as never as { showHeader: boolean; sortBy: never; cellHeight: never };
  if (!frame?.fields.length || !frame.length) return <NoData look={look} />;
  if (frames.length > 1) throw new Error(`${frames.length} tables are left, and a panel shows one`);
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      noHeader={!options.showHeader}
      sortBy={options.sortBy}
      cellHeight={options.cellHeight}
      fieldConfig={look.panel.fieldConfig}
      timeRange={timeRange(look.range)}
      enableVirtualization={false}
      structureRev={1}
    />
  );
}

function Words({ look, replace, height }: Kind) {
  const { content } = look.panel.options as never as { content: string };
  const html = { __html: renderTextPanelMarkdown(replace(content)) };
  return (
    <div style={{ height, overflow: 'auto' }}>
      <div className="markdown-html" dangerouslySetInnerHTML={html} />
    </div>
  );
}

function NoData({ look }: { look: PanelLook }) {
  return (
    <div className="none" style={{ display: 'grid', placeItems: 'center', height: '100%' }}>
      {look.panel.fieldConfig.defaults.noValue || 'No data'}
    </div>
  );
}

function timeRange({ from, to }: Range): TimeRange {
  const [start, end] = [dateTime(from).utc(), dateTime(to).utc()];
  return { from: start, to: end, raw: { from: start, to: end } };
}
