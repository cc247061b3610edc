import type { Child, JSX } from '#jsx/jsx-runtime';
import { renderToString } from '#jsx/render';
import { STYLE_FILE } from './files.js';

interface Link {
  readonly path: string;
  readonly label: string;
}

/** What stands around the content of every page. */
interface Frame {
  readonly title: string;
  /** The path that the shared files are served below, without a slash at its end. */
  readonly files: string;
  /** Where the name of the pages leads. */
  readonly home: Link;
  readonly links: readonly Link[];
  /** The path of the link that stands for this page. */
  readonly current: string;
  /** To the right of the links: who is signed in, a search. */
  readonly tools?: Child;
  /** The path of a script of ours, for what is live. */
  readonly script?: string | undefined;
  /** True: the browser asks again at once, from this page. */
  readonly again?: boolean | undefined;
  readonly children: Child;
}

/** A whole page as HTML. Text and attributes are escaped by the renderer, wherever they come from. */
export function documentOf(page: JSX.Element): string {
  return `<!doctype html>\n${renderToString(page)}\n`;
}

export function Document({ title, files, script, again, children, ...frame }: Frame) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {again === true && <meta http-equiv="refresh" content="0" />}
        <title>{`${title} · ${frame.home.label}`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={`${files}/${STYLE_FILE.name}`} />
        {script !== undefined && <script type="module" src={`${files}/${script}`} />}
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <Header {...frame} />
        <main id="content">
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
}

function Header({ home, links, current, tools }: Pick<Frame, 'home' | 'links' | 'current' | 'tools'>) {
  return (
    <header>
      <a class="brand" href={home.path}>
        {home.label}
      </a>
      {links.length > 0 && (
        <nav aria-label="Pages">
          {links.map(({ path, label }) => (
            <a href={path} aria-current={path === current ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      )}
      {tools !== undefined && <div class="tools">{tools}</div>}
    </header>
  );
}
