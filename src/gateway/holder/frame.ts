import { documentOf, type Frame } from '../pages/document.js';

interface FrameParts extends Pick<Frame, 'title' | 'again' | 'children'> {
  readonly path: string;
  /** Null if nobody is signed in. */
  readonly formToken: string | null;
}

/** Renders a page for a key holder. */
export function framed({ path, formToken, ...page }: FrameParts): string {
  const signOut = formToken === null ? null : { path: `${path}/sign-out`, formToken };
  return documentOf({ ...page, files: path, home: { path, label: 'Your API key' }, links: [], current: path, signOut });
}
