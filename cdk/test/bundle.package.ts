import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import catalog from '../catalog.json' with { type: 'json' };
import { buildPackage } from '../lib/bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'burstwatch-bundle-'));
after(() => rmSync(folder, { recursive: true }));

function copyOfSources(name: string): string {
  const root = join(folder, name);
  for (const part of ['burstwatch', 'lambdas']) cpSync(part, join(root, part), { recursive: true });
  cpSync('LICENSE', join(root, 'LICENSE'));
  return root;
}

function fingerprint(root: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    if (statSync(join(root, name)).isFile()) hash.update(name).update(readFileSync(join(root, name)));
  }
  return hash.digest('hex');
}

test('two machines with the same sources build the same package', () => {
  const [one, other] = ['one', 'other'].map((name) => buildPackage(copyOfSources(name)));
  assert.notEqual(one, other);
  assert.equal(fingerprint(one!), fingerprint(other!));
});

test('the package has our sources and what they import, and nothing of the development', () => {
  const names = readdirSync(buildPackage());
  for (const name of ['burstwatch', 'lambdas', 'aws_lambda_powertools', 'boto3', 'botocore'])
    assert.ok(names.includes(name), name);
  for (const name of ['tests', 'demo', 'bin']) assert.ok(!names.includes(name), name);
  for (const name of [
    '__main__.py',
    'aws/doctor',
    'aws/audit/',
    'aws/look/fleet_history.py',
    'aws/look/recording.py',
    'backtest',
    'drawing',
    'cli',
    'recordings',
  ]) {
    assert.ok(existsSync(join('burstwatch', name)), name);
    assert.ok(!existsSync(join(buildPackage(), 'burstwatch', name)), name);
  }
  const files = readdirSync(buildPackage(), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    files.filter((name) => name.endsWith('.so')),
    [],
  );
  assert.deepEqual(
    files.filter((name) => name.endsWith('.pyc') && !name.endsWith('.cpython-313.pyc')),
    [],
  );
});

test('the package has the licence of all that is in it', () => {
  const licences = join(buildPackage(), 'licenses');
  assert.deepEqual(readFileSync(join(licences, 'LICENSE')), readFileSync('LICENSE'));
  const pins = readFileSync(join('lambdas', 'requirements.txt'), 'utf8').matchAll(/^([\w-]+)==(\S+)/gm);
  const expected = [...pins].map(([, name, version]) => `${name!.replaceAll('-', '_')}-${version}`);
  assert.ok(expected.length > 5);
  for (const name of expected) {
    const texts = readdirSync(join(licences, name), { recursive: true, encoding: 'utf8' }).filter((text) =>
      statSync(join(licences, name, text)).isFile(),
    );
    assert.ok(
      texts.some((text) => readFileSync(join(licences, name, text), 'utf8').length > 500),
      name,
    );
  }
});

test('where the Python of the functions is here, the package has the bytecode of all of it', () => {
  const python = process.env.PYTHON ?? 'python3';
  const version = execFileSync(python, ['-c', 'import sys; print("python%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  }).trim();
  const [one, other] = ['compiled', 'compiled-elsewhere'].map((name) => buildPackage(copyOfSources(name), version));
  assert.equal(fingerprint(one!), fingerprint(other!));
  const files = readdirSync(one!, { recursive: true, encoding: 'utf8' });
  const tag = version.replace('python', 'cpython-').replace('.', '');
  const sources = files.filter((name) => name.endsWith('.py'));
  const compiled = files.filter((name) => name.endsWith(`.${tag}.pyc`));
  assert.ok(sources.length > 200, String(sources.length));
  assert.equal(compiled.length, sources.length);
  const without = buildPackage(copyOfSources('not-compiled'), 'python9.9');
  assert.deepEqual(
    readdirSync(without, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.pyc')),
    [],
  );
});

test('the package needs nothing beside it, and its boto3 knows the services that are called and no other', () => {
  const code = [
    'import sys, json',
    'sys.path.insert(0, sys.argv[1])',
    'import boto3, lambdas.sweep, lambdas.cleanup',
    'made = [boto3.client(one) for one in json.loads(sys.argv[2])]',
    'print(boto3.__file__, boto3.Session().get_available_services())',
  ].join('\n');
  const env = { AWS_REGION: 'us-east-1', AWS_DEFAULT_REGION: 'us-east-1', POWERTOOLS_SERVICE_NAME: 'test' };
  const args = ['-I', '-B', '-S', '-c', code, buildPackage(), JSON.stringify(catalog.services)];
  const said = execFileSync(process.env.PYTHON ?? 'python3', args, { env, encoding: 'utf8' });
  assert.ok(said.startsWith(buildPackage()), said);
  assert.deepEqual(JSON.parse(said.slice(said.indexOf('[')).replaceAll("'", '"')).sort(), [...catalog.services].sort());
});

test('every module of the package finds what it imports in the package', () => {
  const code = [
    'import sys, pkgutil, importlib',
    'sys.path.insert(0, sys.argv[1])',
    'import burstwatch',
    'names = [module.name for module in pkgutil.walk_packages(burstwatch.__path__, "burstwatch.")]',
    '[importlib.import_module(name) for name in names]',
    'print(len(names))',
  ].join('\n');
  const said = execFileSync(process.env.PYTHON ?? 'python3', ['-I', '-B', '-S', '-c', code, buildPackage()], {
    encoding: 'utf8',
  });
  assert.ok(Number(said) > 90, said);
});

test('a package is built once for the same sources', () => {
  const first = buildPackage();
  const before = statSync(first).mtimeMs;
  assert.equal(buildPackage(), first);
  assert.equal(statSync(first).mtimeMs, before);
});

test('where Python has no pip, nothing is run from a folder that others can write to', () => {
  const root = copyOfSources('without-pip');
  const python = join(folder, 'python-without-pip');
  const real = process.env.PYTHON ?? 'python3';
  writeFileSync(python, `#!/bin/sh\n[ "$2" = pip ] && exit 1\nexec '${real}' "$@"\n`, { mode: 0o755 });
  const before = readdirSync(tmpdir()).toSorted();
  process.env.PYTHON = python;
  try {
    assert.ok(existsSync(join(buildPackage(root), 'aws_lambda_powertools')));
  } finally {
    process.env.PYTHON = real;
  }
  assert.ok(existsSync(join(root, '.cache', 'pip', 'bin', 'python')));
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => name.startsWith('burstwatch-pip') && !before.includes(name)),
    [],
  );
});
