import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '#jsx/jsx-runtime';
import { packageRoot } from '../../../shared/package-root.js';
import { AdminRefusal } from '../../actions/answer.js';
import { CONSOLE, page, type Page } from '../visit/page.js';

const NAME = /^Petgate\w{1,60}$/;

/** The runbooks of the alerts, readable without internet access. */
export const RUNBOOK_PAGES: readonly Page[] = [
  page('GET /runbooks/{id}', 'any', 'Runbook', {
    serve: async ({ id }) => {
      // Loaded here to keep the start fast: few visits need it.
      const { lexer } = await import('marked');
      const [, ...blocks] = lexer(read(id)) as readonly Token[];
      return { title: id, content: <Blocks tokens={blocks} /> };
    },
  }),
];

export function runbookPath(name: string): string {
  return `${CONSOLE}/runbooks/${name}`;
}

function read(name: string): string {
  try {
    if (NAME.test(name)) return readFileSync(join(packageRoot, 'docs/runbooks', `${name}.md`), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  throw new AdminRefusal(404, 'not_found', 'There is no runbook of this name.');
}

/** The fields of a Markdown token that this page reads. */
interface Token {
  readonly type: string;
  readonly text?: string;
  readonly tokens?: readonly Token[];
  /** For a list. */
  readonly items?: readonly Token[];
  readonly ordered?: boolean;
  /** For a link. */
  readonly href?: string;
}
type TokensParts = Pick<Token, 'tokens'>;

/** Renders the Markdown that runbooks use; HTML in it is shown as text. */
function Blocks({ tokens }: Required<TokensParts>) {
  return <>{tokens.map(blockOf)}</>;
}

function blockOf(token: Token): Child {
  switch (token.type) {
    case 'heading':
      return (
        <h2>
          <Words {...token} />
        </h2>
      );
    case 'paragraph':
      return (
        <p>
          <Words {...token} />
        </p>
      );
    case 'list': {
      const items = token.items?.map(({ tokens }) => (
        <li>
          <Blocks tokens={tokens ?? []} />
        </li>
      ));
      return token.ordered === true ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case 'code':
      return <pre>{token.text}</pre>;
    case 'space':
      return null;
    default:
      return <Words tokens={token.tokens ?? [token]} />;
  }
}

function Words({ tokens = [] }: TokensParts) {
  return <>{tokens.map(wordsOf)}</>;
}

function wordsOf(token: Token): Child {
  const inner = token.tokens === undefined ? token.text : <Words {...token} />;
  if (token.type === 'link') return linkTo(token.href ?? '', inner);
  const Element = ELEMENTS.get(token.type);
  return Element === undefined ? inner : <Element>{inner}</Element>;
}

const ELEMENTS = new Map<string, 'code' | 'strong' | 'em'>([
  ['codespan', 'code'],
  ['strong', 'strong'],
  ['em', 'em'],
]);

/** Links to another runbook; shows the path of any other document. */
function linkTo(href: string, inner: Child) {
  const [file = ''] = href.split('#');
  const name = file.replace(/\.md$/, '');
  if (NAME.test(name)) return <a href={runbookPath(name)}>{inner}</a>;
  return (
    <>
      {inner} (<code>{file.replace(/^\.\.\//, 'docs/')}</code>)
    </>
  );
}
