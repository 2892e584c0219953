/**
 * Looks at pages in a real browser: takes their pictures, and says what is wrong with them.
 *
 * Reads one JSON object {chromium, out, pages: [{name, path, may_be_empty, once}]} from standard input and writes findings as JSON:
 * words that are cut or leave their place, text with too little contrast, panels that fail, or that have values and draw none.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';

interface Job {
  readonly chromium: string;
  /** A folder for pictures, or nothing for none. */
  readonly out: string | null;
  readonly pages: readonly {
    readonly name: string;
    readonly path: string;
    readonly may_be_empty: boolean;
    readonly once: boolean;
  }[];
}

interface Finding {
  readonly page: string;
  readonly theme: string;
  readonly width: number;
  readonly what: string;
}

/** What a panel shows: the words of a number with its colour, the rows of a table, the names of a graph's lines. */
interface Shown {
  readonly page: string;
  readonly theme: string;
  readonly width: number;
  readonly panel: string;
  readonly numbers: readonly { readonly text: string; readonly color: string }[];
  readonly rows: readonly (readonly string[])[];
  readonly legend: readonly string[];
  readonly links: readonly string[];
  readonly text: string;
}

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [390, 1280, 1920] as const;
const DESK = 1280;
const PHONE = 769;
const HEIGHT = 900;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Words that are cut or leave their panel or the page, and panels that say they have values and draw nothing. Runs in the page. */
function misfits([mayBeEmpty, phone]: [boolean, number]): string[] {
  const found: string[] = [];
  const short = (element: Element) =>
    `${element.tagName.toLowerCase()} "${(element.textContent ?? '').trim().slice(0, 40)}"`;
  if (document.documentElement.scrollWidth > window.innerWidth)
    found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  /** A wide figure is scrolled in its place; a table is sideways only on a phone. */
  const isScrolled = (element: Element): boolean => {
    if (element.closest('[role=grid], table')) return window.innerWidth < phone;
    for (let outer = element.parentElement; outer && outer !== document.body; outer = outer.parentElement) {
      if (getComputedStyle(outer).overflowX === 'auto') return true;
    }
    return false;
  };
  /** Words and dates of which a part stands in the next line. An id, an address or a command may: it is longer than some places. */
  const LONGEST_TOKEN = 24;
  const brokenWords = (place: Element): string[] => {
    const broken: string[] = [];
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const lines = () => new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.parentElement!.closest('pre, code, svg, script, style')) continue;
      range.selectNodeContents(text);
      if (lines() < 2) continue;
      for (const token of text.textContent!.matchAll(/\S+( \d\d:\d\dZ)?/g)) {
        if (token[0].length > LONGEST_TOKEN) continue;
        for (const word of token[0].matchAll(/\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?Z)?|[^\s/_-]+/g)) {
          range.setStart(text, token.index + word.index);
          range.setEnd(text, token.index + word.index + word[0].length);
          if (lines() > 1) broken.push(word[0]);
        }
      }
    }
    return broken;
  };
  const panels = [...document.querySelectorAll<HTMLElement>('[data-values]')];
  if (!document.body.innerText.trim()) found.push('the page is blank');
  for (const panel of panels.length ? panels : [document.body]) {
    const edge = panel.getBoundingClientRect();
    const title = panel.dataset['panel'] ?? panel.querySelector('h3')?.textContent ?? '?';
    for (const element of panel.querySelectorAll<HTMLElement>('*')) {
      if (element.closest('svg') || getComputedStyle(element).visibility === 'hidden') continue;
      const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent!.trim());
      if (!own || getComputedStyle(element).display === 'inline' || !element.getClientRects().length) continue;
      if (isScrolled(element)) continue;
      const box = element.getBoundingClientRect();
      if (
        box.right > edge.right + 1 ||
        box.left < edge.left - 1 ||
        (!element.closest('[role=grid]') && (box.bottom > edge.bottom + 1 || box.top < edge.top - 1))
      ) {
        found.push(`${title}: ${short(element)} leaves its panel`);
      }
      if (element.scrollWidth > element.clientWidth + 1) found.push(`${title}: ${short(element)} is cut`);
    }
    for (const word of brokenWords(panel)) found.push(`${title}: "${word}" is broken over two lines`);
    const failed = panel.querySelector('.error');
    if (failed) found.push(`${title}: ${failed.textContent}`);
    if (!panels.length) continue; // a page of words
    const hasValues = Number(panel.dataset['values']) > 0;
    if (!hasValues && !mayBeEmpty) found.push(`${title}: has no values`);
    const canvas = panel.querySelector('canvas');
    if (canvas && hasValues) {
      // What draws a graph says which of its lines found no place.
      const lost = panel.querySelector<HTMLElement>('.uplot')?.dataset['lost'];
      if (lost === undefined) found.push(`${title}: draws no line`);
      else if (lost) found.push(`${title}: ${lost} has values and no line`);
    } else if (hasValues && !panel.querySelector('svg') && !panel.textContent!.replace(title, '').trim()) {
      found.push(`${title}: is empty`);
    }
  }
  return found;
}

/** What each panel shows. Runs in the page. */
function shown(): Omit<Shown, 'page' | 'theme' | 'width'>[] {
  const texts = (parent: Element, selector: string) =>
    [...parent.querySelectorAll(selector)].map((one) => one.textContent!.trim());
  return [...document.querySelectorAll<HTMLElement>('[data-panel]')].map((panel) => ({
    panel: panel.dataset['panel']!,
    numbers: [...panel.querySelectorAll<HTMLElement>('[data-text]')].map((one) => ({
      text: one.dataset['text']!,
      color: one.dataset['color'] ?? '',
    })),
    rows: [...panel.querySelectorAll('[role=row]')].map((row) => texts(row, '[role=gridcell], [role=columnheader]')),
    legend: texts(panel, '[class*=LegendLabel], button[class*=label]'),
    links: [...panel.querySelectorAll('a')].map((one) => one.getAttribute('href')!),
    text: panel.textContent!,
  }));
}

/** What axe says of the contrast of every text; what it cannot tell is said too. */
async function faint(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run(
          context: Document,
          options: object,
        ): Promise<Record<string, { nodes: { html: string; target: string[]; any: { message: string }[] }[] }[]>>;
      };
    };
    const result = await axe.run(document, { runOnly: ['color-contrast'] });
    const LARGE = 24;
    const light = (color: readonly number[]) =>
      color
        .slice(0, 3)
        .map((part) => part / 255)
        .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i]!, 0);
    const numbers = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const pixel = document.createElement('canvas').getContext('2d')!;
    /** A colour as a filter shows it, such as that of pictures in the dark. */
    const filtered = (color: string, element: Element): number[] => {
      let by: Element | null = element;
      while (by && getComputedStyle(by).filter === 'none') by = by.parentElement;
      pixel.filter = by ? getComputedStyle(by).filter : 'none';
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = color;
      pixel.fillRect(0, 0, 1, 1);
      return [...pixel.getImageData(0, 0, 1, 1).data];
    };
    /** Against the nearest ground that is not transparent; what is drawn over it does not count. */
    const contrast = (element: Element): number => {
      let ground: Element | null = element;
      while (ground && numbers(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
      const { color, fill } = getComputedStyle(element);
      const [a, b] = [
        light(filtered(element instanceof SVGElement ? fill : color, element)),
        ground ? light(filtered(getComputedStyle(ground).backgroundColor, ground)) : 1,
      ];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    const text = (node: { html: string; any: { message: string }[] }) =>
      `${node.html.slice(0, 120)}: ${node.any[0]?.message ?? 'contrast cannot be told'}`;
    const untold = result['incomplete']!.flatMap((rule) => rule.nodes).filter((node) => {
      const element = document.querySelector(node.target[0]!);
      return !element || contrast(element) < (parseFloat(getComputedStyle(element).fontSize) < LARGE ? 4.5 : 3);
    });
    return [...result['violations']!.flatMap((rule) => rule.nodes), ...untold].map(text);
  });
}

/** Opens a page in a window as high as itself, and waits until it is drawn: no panel waits for its data, and some frames have passed. */
async function opened(page: Page, path: string, width: number): Promise<void> {
  const drawn = async () => {
    if (await page.$('#look'))
      await page.waitForFunction(
        () => document.querySelector('[data-panel]') && !document.querySelector('[data-pending]'),
      );
    await page.evaluate(async () => {
      await document.fonts.ready;
      for (let frame = 0; frame < 5; frame += 1) await new Promise((done) => requestAnimationFrame(done));
    });
  };
  await page.setViewportSize({ width, height: HEIGHT });
  await page.goto(pathToFileURL(path).href);
  // What opens to show more is looked at as well.
  await page.evaluate(() => {
    for (const one of document.querySelectorAll('details')) one.open = true;
  });
  await drawn();
  await page.setViewportSize({ width, height: await page.evaluate(() => document.documentElement.scrollHeight) });
  await drawn();
}

const job: Job = JSON.parse(readFileSync(0, 'utf8'));
const browser = await chromium.launch({ executablePath: job.chromium, args: ['--no-sandbox'] });
const findings: Finding[] = [];
const panels: Shown[] = [];

async function lookAt(theme: (typeof THEMES)[number], width: number): Promise<void> {
  const page = await browser.newPage({ viewport: { width, height: HEIGHT }, colorScheme: theme });
  await page.addInitScript('window.__name = (named) => named'); // tsx wraps functions in it, and the page has none
  let name = '';
  page.on('pageerror', (error) => findings.push({ page: name, theme, width, what: String(error.stack).slice(0, 300) }));
  for (const { name: own, path, may_be_empty, once } of job.pages) {
    if (once && (theme !== THEMES[0] || width !== DESK)) continue;
    name = own;
    await opened(page, path, width);
    panels.push(...(await page.evaluate(shown)).map((one) => ({ page: name, theme, width, ...one })));
    for (const what of [
      ...(await page.evaluate(misfits, [may_be_empty, PHONE] as [boolean, number])),
      ...(await faint(page)),
    ])
      findings.push({ page: name, theme, width, what });
    if (job.out) await page.screenshot({ path: `${job.out}/${name}-${theme}-${width}.png` });
  }
  await page.close();
}

try {
  for (const width of WIDTHS) await Promise.all(THEMES.map((theme) => lookAt(theme, width)));
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify({ findings, panels }) + '\n');
