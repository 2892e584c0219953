import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './props.ts';
import catalog from '../catalog.json' with { type: 'json' };

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '..', '..');
/** Where the published library has its package, built and without any need of Python. */
const PREBUILT = join(HERE, '..', 'lambda');
const SOURCES = ['burstwatch', 'lambdas'];
/** What only the commands use. An import contract in pyproject.toml keeps the functions away from it. */
const COMMANDS_ONLY = [
  '__main__.py',
  'aws/doctor/',
  'aws/audit/',
  'aws/look/fleet_history.py',
  'aws/look/recording.py',
  'backtest/',
  'drawing/',
  'cli/',
  'files.py',
  'fleet/',
  'recordings/',
  'web/',
].map((path) => join('burstwatch', path));
const LICENCE = 'LICENSE';
const REQUIREMENTS = join('lambdas', 'requirements.txt');

/**
 * The Lambda's package as a folder: our own sources, and what `lambdas/requirements.txt` pins by hash. boto3 is in it: Lambda
 * has one of its own, but which one depends on the region and the day, and ours is the one that the tests ran with.
 * It needs Python and no Docker. All of it is pure Python, so one package serves both processors, and the
 * same input makes the same files: it is kept under the hash of its input and built once.
 * Where the functions' own Python is here, the package has its bytecode too: Lambda cannot write to a package, so each start
 * would compile all of it again, which is most of a start.
 */
export function buildPackage(root: string = ROOT, runtime: string = PYTHON): string {
  if (root === ROOT && existsSync(PREBUILT)) return PREBUILT;
  const modules = SOURCES.flatMap((folder) => pythonFiles(root, folder)).filter(
    (path) => !COMMANDS_ONLY.some((part) => path.startsWith(part)),
  );
  const files = [REQUIREMENTS, LICENCE, ...modules].sort();
  const compiler = pythonOf(runtime);
  const hash = createHash('sha256')
    .update(catalog.services.join())
    .update(compiler === undefined ? '' : runtime);
  for (const file of files) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  const target = join(root, '.cache', 'lambda', hash.digest('hex').slice(0, 16));
  if (existsSync(target)) return target;

  mkdirSync(dirname(target), { recursive: true });
  const build = `${target}.${process.pid}`;
  rmSync(build, { recursive: true, force: true });
  installRequirements(root, build);
  keepOnlyOurServices(build);
  for (const file of modules) {
    mkdirSync(dirname(join(build, file)), { recursive: true });
    cpSync(join(root, file), join(build, file));
  }
  keepLicences(root, build);
  // pip notes where and how it installed; none of it is needed to run, and some of it differs by machine.
  for (const name of readdirSync(build).filter((entry) => entry.endsWith('.dist-info') || entry === 'bin')) {
    rmSync(join(build, name), { recursive: true });
  }
  // Not checked against the sources, whose times are others after the upload; and in the package, whatever the environment says of bytecode.
  if (compiler !== undefined)
    run(compiler, ['-I', '-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash', '-s', build, build]);
  try {
    renameSync(build, target);
  } catch (error) {
    if (!existsSync(target)) throw error; // otherwise another synth was faster, with the same files
    rmSync(build, { recursive: true, force: true });
  }
  return target;
}

/** Whoever passes on a package passes on the texts of its licences: ours, and those of each library in a folder of its own. */
function keepLicences(root: string, build: string): void {
  const licences = join(build, 'licenses');
  mkdirSync(licences);
  cpSync(join(root, LICENCE), join(licences, LICENCE));
  for (const info of readdirSync(build).filter((entry) => entry.endsWith('.dist-info'))) {
    const texts = readdirSync(join(build, info), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(^|[\\/])(LICEN[CS]E|NOTICE|COPYING)[^\\/]*$/i.test(name))
      .filter((name) => statSync(join(build, info, name)).isFile());
    if (texts.length === 0) throw new Error(`cannot build the Lambda package: ${info} has no text of its licence`);
    for (const name of texts) {
      const target = join(licences, info.replace('.dist-info', ''), name);
      mkdirSync(dirname(target), { recursive: true });
      cpSync(join(build, info, name), target);
    }
  }
}

/** A Python of the version that Lambda runs, or none. Bytecode of another version would be passed over. */
function pythonOf(runtime: string): string | undefined {
  const isOfVersion = ['-c', `import sys; sys.exit('python%d.%d' % sys.version_info[:2] != '${runtime}')`];
  return [process.env.PYTHON, runtime, 'python3'].find((python) => python !== undefined && works(python, isOfVersion));
}

function pythonFiles(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.includes('__pycache__') && !name.endsWith('requirements.txt'))
    .map((name) => join(root, folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(root, path));
}

/** botocore describes each of AWS's services in a folder. There are four hundred; our functions call five. */
function keepOnlyOurServices(build: string): void {
  const data = join(build, 'botocore', 'data');
  const folders = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders.filter((entry) => !catalog.services.includes(entry.name))) {
    rmSync(join(data, name), { recursive: true });
  }
}

function installRequirements(root: string, target: string): void {
  run(pythonWithPip(root), [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-compile',
    '--no-deps',
    '--require-hashes',
    '--only-binary=:all:',
    '--target',
    target,
    '--requirement',
    join(root, REQUIREMENTS),
  ]);
}

/** Debian's python3 may come without pip, but can make an environment that has it. */
function pythonWithPip(root: string): string {
  const python = process.env.PYTHON ?? 'python3';
  if (works(python, ['-m', 'pip', '--version'])) return python;
  // Within the project: what lies in a folder that others can write to could be theirs, and is run by who deploys.
  const folder = join(root, '.cache', 'pip');
  const inside = join(folder, 'bin', 'python');
  if (!works(inside, ['-m', 'pip', '--version'])) run(python, ['-m', 'venv', folder]);
  return inside;
}

function works(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function run(command: string, args: string[]): void {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const detail = String((error as { stderr?: Buffer }).stderr ?? error).trim();
    throw new Error(`cannot build the Lambda package: ${command} ${args.slice(0, 3).join(' ')} failed: ${detail}`);
  }
}
