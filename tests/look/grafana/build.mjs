// Bundles what draws dashboards into look.js and look.css: node build.mjs FOLDER
import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';

/** The editor of queries is a third of the bundle, and no panel of a dashboard shows it. */
const withoutEditor = {
  name: 'without-editor',
  setup(builder) {
    builder.onResolve({ filter: /^(monaco-editor|@monaco-editor\/)/ }, ({ path }) => ({ path, namespace: 'nothing' }));
    builder.onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {}' }));
  },
};

/** In a file .mjs Node's rules give the whole CommonJS module as its default export; Grafana is built for the others. */
const asBundled = {
  name: 'as-bundled',
  setup(builder) {
    builder.onLoad({ filter: /@grafana\/.*\.mjs$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(
        /^import (\w+) from '(lodash[^']*|[^'.@][^']*)';$/gm,
        (_line, name, from) =>
          `import * as ${name}Module from '${from}'; const ${name} = ${name}Module.default?.default ?? ${name}Module.default ?? ${name}Module;`,
      ),
      loader: 'js',
    }));
  },
};

await build({
  entryPoints: { look: new URL('look.tsx', import.meta.url).pathname },
  outdir: process.argv[2],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
  loader: { '.woff2': 'dataurl', '.woff': 'empty', '.svg': 'text' },
  plugins: [withoutEditor, asBundled],
  logLevel: 'warning',
});
