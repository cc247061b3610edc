/** The script of the reference, served as compiled: search, copying and real requests. */

/** The parts of the DOM that this file uses: it is compiled with the types of Node. */
interface Element extends Record<'textContent' | 'value' | 'href', string>, Record<'hidden' | 'open', boolean> {
  readonly dataset: Record<string, string>;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
  append(...nodes: readonly (Element | string)[]): void;
  remove(): void;
  addEventListener(type: string, listener: (event: { preventDefault(): void }) => unknown): void;
}
interface Page {
  readonly document: Element;
  readonly location: { readonly origin: string };
  /** Absent without TLS, except on localhost. */
  readonly navigator: { readonly clipboard?: { writeText(text: string): Promise<void> } };
  readonly DOMParser: new () => { parseFromString(text: string, type: 'text/html'): Element };
}

/** How much of a response is shown. */
const MAX_BYTES = 1024 * 1024;
const BINARY = /^(?:image|audio|video|font)\/|octet-stream|\bpdf\b|zip\b/;

/** A value, and where it is sent: in path, query or header. */
type Value = readonly [where: string, name: string, value: string];
type Location = 'bearer' | Partial<Record<'header' | 'query' | 'basic' | 'scheme', string>>;

/** Returns path and query of a request, and its header fields. Empty values are left out. */
export function requestOf(path: string, anyPath: boolean, values: readonly Value[], location: Location, key: string) {
  const given = [...values, ...(key === '' ? [] : [credential(location, key)])].filter(([, , value]) => value !== '');
  const valuesIn = (wanted: string) =>
    given.flatMap(([where, name, value]): [string, string][] => (where === wanted ? [[name, value]] : []));
  const target = path.replace(/\{\+?([^{}]*?)[+*]?\}/g, (all, name: string) => {
    const value = new Map(valuesIn('path')).get(name) ?? '';
    const isGreedy = anyPath || /^\{\+|[+*]\}$/.test(all);
    return isGreedy ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
  const query = valuesIn('query').map((pair) => pair.map(encodeURIComponent).join('='));
  return { target: query.length === 0 ? target : `${target}?${query.join('&')}`, headers: valuesIn('header') };
}

function credential(location: Location, key: string): Value {
  const { scheme, header, query, basic } = location === 'bearer' ? { scheme: 'Bearer' } : location;
  if (scheme !== undefined) return ['header', 'Authorization', `${scheme} ${key}`];
  if (header !== undefined) return ['header', header, key];
  if (query !== undefined) return ['query', query, key];
  return ['header', 'Authorization', `Basic ${btoa(basic === 'username' ? `${key}:` : `:${key}`)}`];
}

function offerCopy({ document, navigator: { clipboard }, location }: Page): void {
  for (const each of document.querySelectorAll('.sample')) {
    const [button, pre] = [each.querySelector('button')!, each.querySelector('pre')!];
    pre.textContent = pre.textContent.replaceAll('BASE_URL', location.origin);
    button.hidden = clipboard === undefined;
    const show = (text: string) => () => (button.textContent = text);
    const copy = () => clipboard?.writeText(pre.textContent).then(show('Copied'), show('Could not copy'));
    button.addEventListener('click', copy);
  }
}

/** Lists only operations with every word in their id, method, path or summary. */
function offerSearch({ document, DOMParser }: Page): void {
  const nav = document.querySelector('#operations')!;
  const input = nav.querySelector('input')!;
  const filter = (): void => {
    const words = input.value.toLowerCase().split(/\s+/);
    let hits = 0;
    for (const group of nav.querySelectorAll('details')) {
      const entries = [...group.querySelectorAll('li')];
      for (const entry of entries) {
        const id = new URL(entry.querySelector('a')!.href).searchParams.get('operation') ?? '';
        entry.hidden = !words.every((word) => `${id} ${entry.textContent}`.toLowerCase().includes(word));
        hits += Number(!entry.hidden);
      }
      group.hidden = entries.every(({ hidden }) => hidden);
      group.open = true;
    }
    nav.querySelector('[role=status]')!.textContent = `${hits} found`;
  };
  input.hidden = false;
  input.addEventListener('input', async () => {
    const { docs = '' } = nav.dataset;
    nav.dataset['docs'] = '';
    // The overview has the operations of all tags.
    const html = docs === '' ? '' : await (await fetch(docs)).text();
    const all = [...new DOMParser().parseFromString(html, 'text/html').querySelectorAll('#operations details')];
    if (all.length > 0) for (const old of nav.querySelectorAll('details, #operations > a')) old.remove();
    nav.append(...all);
    filter();
  });
}

/** Shows the form; it sends the request, and shows the response as it comes. */
function offerRequests({ document, location }: Page): void {
  if (document.querySelector('#try-it') === null) return;
  const find = (selector: string): Element => document.querySelector(`#try-it${selector}`)!;
  const inputs = [...document.querySelectorAll('[data-in]')];
  for (const each of [find(''), ...inputs]) each.hidden = false;
  const [form, outcome, fields] = [find(' form'), find(' [role=status]'), find(' [data-headers]')];
  const { method = '', path = '', anyPath, credential: where = '' } = form.dataset;
  let sending = new AbortController();
  const send = async ({ signal }: AbortController): Promise<void> => {
    const values = inputs.map(({ dataset, value }) => [dataset['in']!, dataset['name']!, value] as const);
    const key = find(' [data-key]').value.trim();
    const { target, headers } = requestOf(path, anyPath === 'true', values, JSON.parse(where) as Location, key);
    const body = document.querySelector('[data-body]')?.value ?? '';
    if (body !== '') headers.push(['Content-Type', find(' [data-type]').value]);
    outcome.textContent = 'Sending …';
    const began = performance.now();
    try {
      const options = { method, headers, signal, cache: 'no-store', credentials: 'omit' } as const;
      const sent = body === '' || method === 'GET' ? options : { ...options, body };
      const response = await fetch(location.origin + target, sent);
      fields.textContent = [...response.headers].map((pair) => pair.join(': ')).join('\n');
      const note = await showBody(response, find(' [data-content]'));
      const took = Math.round(performance.now() - began);
      outcome.textContent = `${response.status} ${response.statusText} in ${took} ms${note}`;
    } catch {
      const reasons = 'the gateway cannot be reached, the connection broke, or the response led to another host';
      if (!signal.aborted)
        outcome.textContent = `No complete response: ${reasons}. Check your network, then try again.`;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sending.abort();
    void send((sending = new AbortController()));
  });
}

/** Shows the body exactly as it comes. Returns what to say of it; empty if it is shown completely. */
async function showBody({ headers, body }: Response, content: Element): Promise<string> {
  const type = headers.get('content-type') ?? '';
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
  const decoder = new TextDecoder();
  content.textContent = '';
  for (let left = BINARY.test(type) ? -1 : MAX_BYTES; left >= 0;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) return '';
    content.append(decoder.decode(value.subarray(0, left), { stream: true }));
    left -= value.length;
  }
  await reader?.cancel();
  return BINARY.test(type) ? `; ${type} is not shown` : '; only its first MiB is shown';
}

// Tests load this file in Node.
if ('document' in globalThis) for (const offer of [offerCopy, offerSearch, offerRequests]) offer(globalThis as never);
