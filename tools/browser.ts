/**
 * Looks at pages in a real browser: takes their pictures, and says what is wrong with them.
 *
 * Reads one JSON object {chromium, pages: [{name, path, links}], out} from standard input and writes findings as JSON:
 * words that do not fit their place, text with too little contrast, panels without a line or a value.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';

interface Job {
  readonly chromium: string;
  /** A folder for pictures, or nothing for none. */
  readonly out: string | null;
  readonly pages: readonly { readonly name: string; readonly path: string }[];
}

interface Finding {
  readonly page: string;
  readonly theme: string;
  readonly width: number;
  readonly what: string;
}

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [1280, 1920] as const;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Words that leave their panel or the page, and panels that say they have values and draw nothing. Runs in the page. */
function misfits(): string[] {
  const found: string[] = [];
  const short = (element: Element) => `${element.className || element.tagName} "${(element.textContent ?? '').trim().slice(0, 40)}"`;
  if (document.documentElement.scrollWidth > window.innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const panel of document.querySelectorAll('.panel')) {
    const edge = panel.getBoundingClientRect();
    const title = panel.querySelector('h3')?.textContent ?? '?';
    for (const element of panel.querySelectorAll<HTMLElement>('*')) {
      if (element.closest('svg') || getComputedStyle(element).visibility === 'hidden') continue;
      const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent!.trim());
      const box = element.getBoundingClientRect();
      if (own && (box.right > edge.right + 1 || box.left < edge.left - 1 || box.bottom > edge.bottom + 1 || box.top < edge.top - 1)) {
        found.push(`${title}: ${short(element)} leaves its panel`);
      }
      if (own && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline') {
        found.push(`${title}: ${short(element)} is wider than its place`);
      }
    }
    for (const axis of panel.querySelectorAll('.chart .x, .chart .y')) {
      const labels = [...axis.querySelectorAll('span')].map((label) => label.getBoundingClientRect());
      const crossing = labels.some((a, i) => labels.slice(i + 1).some((b) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
      if (crossing) found.push(`${title}: labels of an axis cover one another`);
    }
    if (!(Number(panel.getAttribute('data-values')) > 0)) found.push(`${title}: has no values`);
    const chart = panel.querySelector('.chart');
    if (chart) {
      const drawn = [...chart.querySelectorAll<SVGPathElement>('path.line, path.dashed, path.stack')];
      if (!drawn.some((path) => path.getTotalLength() > 0)) found.push(`${title}: draws no line`);
    } else if (!panel.textContent!.replace(title, '').trim()) {
      found.push(`${title}: is empty`);
    }
  }
  return found;
}

/** What axe says of the contrast of every text; what it cannot tell is said too. */
async function faint(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(context: Document, options: object): Promise<Record<string, { nodes: { html: string; any: { message: string }[] }[] }[]>> } };
    const result = await axe.run(document, { runOnly: ['color-contrast'] });
    return [...result['violations']!, ...result['incomplete']!].flatMap((rule) =>
      rule.nodes.map((node) => `${node.html.slice(0, 120)}: ${node.any[0]?.message ?? 'contrast cannot be told'}`));
  });
}

const job: Job = JSON.parse(readFileSync(0, 'utf8'));
const browser = await chromium.launch({ executablePath: job.chromium, args: ['--no-sandbox'] });
const findings: Finding[] = [];
let texts = 0;
try {
  for (const theme of THEMES) {
    for (const width of WIDTHS) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
      await page.addInitScript('window.__name = (named) => named'); // tsx wraps functions in it, and the page has none
      for (const { name, path } of job.pages) {
        await page.goto(pathToFileURL(path).href);
        texts += await page.evaluate(() => document.querySelectorAll('.panel').length);
        for (const what of [...(await page.evaluate(misfits)), ...(await faint(page))]) findings.push({ page: name, theme, width, what });
        if (job.out) await page.screenshot({ path: `${job.out}/${name}-${theme}-${width}.png`, fullPage: true });
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify({ panels: texts, findings }) + '\n');
