/** Draws a dashboard with Grafana's own components, in the theme that the reader prefers. */
import '@fontsource/inter/latin-400.css';
import '@fontsource/inter/latin-500.css';
import { ThemeContext, createTheme } from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { GlobalStyles } from '@grafana/ui';
import { useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import 'uplot/dist/uPlot.min.css';
import { Board, type BoardLook } from './board';

// Icons are files of a Grafana server, and there is none.
const NO_ICON = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const fetched = window.fetch;
window.fetch = async (input, init) =>
  String(input).endsWith('.svg')
    ? new Response(NO_ICON, { headers: { 'Content-Type': 'image/svg+xml' } })
    : fetched(input, init);

const dark = matchMedia('(prefers-color-scheme: dark)');

function Look({ board }: { board: BoardLook }) {
  const [width, setWidth] = useState(document.documentElement.clientWidth);
  const [isDark, setDark] = useState(dark.matches);
  useEffect(() => {
    const resized = () => setWidth(document.documentElement.clientWidth);
    const themed = () => setDark(dark.matches);
    addEventListener('resize', resized);
    dark.addEventListener('change', themed);
    return () => {
      removeEventListener('resize', resized);
      dark.removeEventListener('change', themed);
    };
  }, []);
  const theme = useMemo(() => createTheme({ colors: { mode: isDark ? 'dark' : 'light' } }), [isDark]);
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <Board key={`${isDark}`} board={board} theme={theme} width={width} />
    </ThemeContext.Provider>
  );
}

const board: BoardLook = JSON.parse(document.getElementById('board')!.textContent!);
void initPluginTranslations('burstwatch', []).then(() =>
  createRoot(document.getElementById('look')!).render(<Look board={board} />),
);
