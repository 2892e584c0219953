/** A dashboard's grid: rows and panels where Grafana puts them, one below the other on a phone. */
import type { DataFrameJSON, GrafanaTheme2, PanelModel } from '@grafana/data';
import { PanelChrome } from '@grafana/ui';
import { Component, type ReactNode } from 'react';
import { Panel, type Range } from './panels';

/** A panel with what its queries gave, and the variables as it has them. */
export interface PanelLook {
  readonly panel: PanelModel & {
    readonly title: string;
    readonly description: string;
    readonly panels?: readonly unknown[];
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  };
  readonly frames: readonly DataFrameJSON[];
  readonly variables: Readonly<Record<string, string>>;
  readonly range: Range;
  readonly error: string;
  readonly values: number;
}

export interface BoardLook {
  readonly title: string;
  readonly description: string;
  readonly note: string;
  readonly panels: readonly PanelLook[];
}

// Grafana's own grid.
const COLUMNS = 24;
const CELL_HEIGHT = 30;
const MARGIN = 8;
const PADDING = 16;
const PHONE = 769;

export function Board({ board, theme, width }: { board: BoardLook; theme: GrafanaTheme2; width: number }) {
  const inner = width - 2 * PADDING;
  const isPhone = width < PHONE;
  const column = (inner + MARGIN) / COLUMNS;
  let below = 0;
  const placed = board.panels.map((look) => {
    const { x, y, w, h } = look.panel.gridPos;
    const height = h * (CELL_HEIGHT + MARGIN) - MARGIN;
    const top = isPhone ? below : y * (CELL_HEIGHT + MARGIN);
    below = isPhone ? top + height + MARGIN : Math.max(below, top + height + MARGIN);
    const place = isPhone
      ? { left: 0, top, width: inner, height }
      : { left: x * column, top, width: w * column - MARGIN, height };
    return { look, place };
  });
  return (
    <div style={{ padding: PADDING, width, boxSizing: 'border-box' }}>
      <header>
        <h1 style={{ ...theme.typography.h3, overflowWrap: 'anywhere' }}>{board.title}</h1>
        <p style={{ margin: '0 0 8px' }}>{board.description}</p>
        <p style={{ color: theme.colors.text.secondary, margin: '0 0 12px', overflowWrap: 'anywhere' }}>{board.note}</p>
      </header>
      <main style={{ position: 'relative', height: below }}>
        {placed.map(({ look, place }) => (
          <div key={`${look.panel.id}-${place.left}-${place.top}`} style={{ position: 'absolute', ...place }}>
            {look.panel.type === 'row' ? (
              <h2 style={theme.typography.h5}>{rowTitle(look)}</h2>
            ) : (
              <Framed look={look} width={place.width} height={place.height} theme={theme} />
            )}
          </div>
        ))}
      </main>
    </div>
  );
}

/** A closed row says how many panels it opens. */
function rowTitle({ panel }: PanelLook): string {
  return panel.panels?.length ? `▸ ${panel.title} (${panel.panels.length} panels)` : panel.title;
}

function Framed({
  look,
  width,
  height,
  theme,
}: {
  look: PanelLook;
  width: number;
  height: number;
  theme: GrafanaTheme2;
}) {
  const { panel } = look;
  return (
    <section data-panel={panel.title} data-values={look.values}>
      <PanelChrome title={panel.title} description={panel.description} width={width} height={height}>
        {(innerWidth, innerHeight) => (
          <Caught text={look.error}>
            <Panel look={look} width={innerWidth} height={innerHeight} theme={theme} />
          </Caught>
        )}
      </PanelChrome>
    </section>
  );
}

/** What a panel says instead of itself if it fails: one that fails hides no other. */
class Caught extends Component<{ text: string; children: ReactNode }, { text: string }> {
  override state = { text: this.props.text };

  static getDerivedStateFromError(error: unknown) {
    return { text: String(error) };
  }

  override render() {
    if (!this.state.text) return this.props.children;
    return (
      <div className="error" style={{ overflowWrap: 'anywhere', padding: MARGIN }}>
        {this.state.text}
      </div>
    );
  }
}
