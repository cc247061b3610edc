import type { Child } from '#jsx/jsx-runtime';
import { renderToString } from '#jsx/render';
import { STYLE_FILE } from './files.js';

interface Link {
  readonly path: string;
  readonly label: string;
}

/** The frame around the content of every page. */
export interface Frame {
  readonly title: string;
  /** The path below which the shared files are served, without a trailing slash. */
  readonly files: string;
  /** The name of the pages, and what it links to. */
  readonly home: Link;
  readonly links: readonly Link[];
  /** The path of the link to mark as the current page. */
  readonly current: string;
  /** Shown to the right of the links: who is signed in, a search. */
  readonly tools?: Child;
  /** Null if nobody is signed in. */
  readonly signOut: { readonly path: string; readonly formToken: string } | null;
  /** File name of our script for live updates. */
  readonly script?: string | undefined;
  /** True: the browser reloads immediately, so that the request comes from this page. */
  readonly again?: boolean | undefined;
  readonly children: Child;
}

/** Renders a whole page as HTML. The renderer escapes all text and attributes. */
export function documentOf({ title, files, script, again, children, ...frame }: Frame): string {
  const page = (
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
          Skip to content
        </a>
        <Header {...frame} />
        <main id="content">
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
  return `<!doctype html>\n${renderToString(page)}\n`;
}

type HeaderParts = Pick<Frame, 'home' | 'links' | 'current' | 'tools' | 'signOut'>;

function Header({ home, links, current, tools, signOut }: HeaderParts) {
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
      {signOut !== null && (
        <div class="tools">
          {tools}
          <form method="post" action={signOut.path} class="inline">
            <input type="hidden" name="form" value={signOut.formToken} />
            <button>Sign out</button>
          </form>
        </div>
      )}
    </header>
  );
}
