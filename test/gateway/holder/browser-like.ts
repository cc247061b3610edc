import type { Gateway } from '../../servers/gateway.js';

export const ACCOUNT = '/account';

type Fields = Readonly<Record<string, string>>;

interface Shown {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly body?: URLSearchParams;
  readonly headers: Fields;
}

/** Asks for pages as a browser does: with the cookie that it was given last, and following nowhere. */
export class Visitor {
  cookie = '';
  readonly #origin: string;
  readonly #path: string;

  constructor({ url }: Pick<Gateway, 'url'>, path = ACCOUNT) {
    this.#origin = url;
    this.#path = path;
  }

  get(path = this.#path, headers: Fields = {}): Promise<Shown> {
    return this.#ask(path, { headers });
  }

  /** @param fields of the form */
  post(path: string, fields: Fields, headers: Fields = {}): Promise<Shown> {
    const body = new URLSearchParams(fields);
    return this.#ask(path, { method: 'POST', body, headers: { origin: this.#origin, ...headers } });
  }

  signIn(key: string): Promise<Shown> {
    return this.post(this.#path, { key });
  }

  /** The hidden field that forms of the page hold. */
  async formToken(): Promise<string> {
    return /name="form" value="([^"]+)"/.exec((await this.get()).text)?.[1] ?? '';
  }

  async #ask(path: string, init: Asked): Promise<Shown> {
    const cookie: Fields = this.cookie === '' ? {} : { cookie: this.cookie };
    const headers = { accept: 'text/html', ...cookie, ...init.headers };
    const answer = await fetch(this.#origin + path, { ...init, redirect: 'manual', headers });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(';', 1)[0]!.replace(/^[^=]+=$/, '');
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
}
