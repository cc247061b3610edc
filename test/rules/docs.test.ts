import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

const INDEX = 'docs/README.md';
const TOP = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const docs = readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' })
  .map((name) => join('docs', name))
  .filter((path) => statSync(join(packageRoot, path)).isFile());
const pages = [...TOP, ...docs.filter((name) => name.endsWith('.md'))];

interface Link {
  readonly text: string;
  /** From the package root; the page itself for a bare `#anchor`. */
  readonly target: string;
  readonly anchor: string | undefined;
}

const textOf = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
/** Code holds examples, not links. */
const proseOf = (path: string): string =>
  textOf(path)
    .replace(/^```[^]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, 'code');

/** What a program prints is shown as it is printed, and only that may be wider. */
const MAX_COLUMNS = 120;

/** The lines of code that are too wide. */
function wideLinesOf(path: string): readonly string[] {
  const blocks = [...textOf(path).matchAll(/^ *```(\w*)\n([^]*?)^ *```$/gm)];
  return blocks
    .flatMap(([, language, block = '']) => (language === 'console' ? commandsOf(block) : block.split('\n')))
    .filter((line) => line.length > MAX_COLUMNS);
}

/** The commands of a console, which go on after a line that ends in a backslash. */
function commandsOf(block: string): readonly string[] {
  return [...block.matchAll(/^\$ (?:.*\\\n)*.*$/gm)].flatMap(([command]) => command.split('\n'));
}

function linksOf(path: string): readonly Link[] {
  return [...proseOf(path).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, text = '']) => text)
    .filter((text) => !/^[a-z]+:/.test(text))
    .map((text) => {
      const [file = '', anchor] = text.split('#');
      return { text, target: file === '' ? path : normalize(join(dirname(path), file)), anchor };
    });
}

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = textOf(path)
    .replace(/^```[^]*?^```$/gm, '')
    .matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function isBroken({ target, anchor }: Link): boolean {
  if (target.startsWith('..') || !existsSync(join(packageRoot, target))) return true;
  return anchor !== undefined && (!target.endsWith('.md') || !anchorsOf(target).has(anchor));
}

t.test('every relative link and anchor of the documentation resolves', (t) => {
  for (const path of pages) {
    t.strictSame(
      linksOf(path)
        .filter(isBroken)
        .map(({ text }) => text),
      [],
      path,
    );
  }
  t.end();
});

t.test('code in the documentation keeps to 120 columns', (t) => {
  for (const path of pages) t.strictSame(wideLinesOf(path), [], path);
  t.end();
});

t.test('pictures are small: everybody who installs Petgate gets them', (t) => {
  for (const path of docs.filter((name) => name.endsWith('.png')))
    t.ok(statSync(join(packageRoot, path)).size <= 100 * 1024, path);
  t.end();
});

t.test('every file of docs is reached from its index or the README', (t) => {
  const reached = new Set<string>();
  const queue = [INDEX, ...linksOf('README.md').map(({ target }) => target)];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (reached.has(path) || !docs.includes(path)) continue;
    reached.add(path);
    queue.push(...linksOf(path).map(({ target }) => target));
  }
  t.strictSame(
    docs.filter((path) => !reached.has(path)),
    [],
    'pages nobody finds',
  );
  t.ok(linksOf('README.md').some(({ target }) => target === INDEX));
  t.end();
});
