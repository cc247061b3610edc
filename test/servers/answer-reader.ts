/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name; several fields of a name joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** Reads answers of HTTP/1.1 in whatever pieces they come, each character once; interim (1xx) ones are left out. */
export class AnswerReader {
  readonly answers: RawAnswer[] = [];
  /** What came and was not read: part of a head, of a line that gives a chunk's size, or nothing. */
  #unread = '';
  /** Of the answer whose body is being read. */
  #head: Head | undefined;
  #body = '';
  /** What is there of the body, or of a chunk and the line end behind it, and how much is missing. */
  #part = '';
  #missing = 0;
  #chunk: 'none' | 'size' | 'data' | 'last' = 'none';

  /** @param piece one character per byte (latin1) */
  add(piece: string): void {
    this.#unread += piece;
    while (this.#step());
  }

  /** Reads a head, a size, or what there is of a body; false when more has to come first. */
  #step(): boolean {
    if (this.#head === undefined) return this.#readHead();
    if (this.#chunk === 'size') return this.#readSize();
    const read = this.#unread.slice(0, this.#missing);
    this.#unread = this.#unread.slice(read.length);
    this.#missing -= read.length;
    this.#part += read;
    if (this.#missing > 0) return false;
    this.#body += this.#chunk === 'none' ? this.#part : this.#part.slice(0, -2);
    this.#part = '';
    if (this.#chunk === 'data') this.#chunk = 'size';
    else this.#finish(this.#head);
    return true;
  }

  #readHead(): boolean {
    const end = this.#unread.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const head = parseHead(this.#unread.slice(0, end));
    this.#unread = this.#unread.slice(end + 4);
    if (head.status < 200) return true;
    const isEmpty = head.status === 204 || head.status === 304;
    this.#head = head;
    this.#chunk = !isEmpty && head.headers.get('transfer-encoding') === 'chunked' ? 'size' : 'none';
    this.#missing = isEmpty ? 0 : Number(head.headers.get('content-length') ?? 0);
    return true;
  }

  #readSize(): boolean {
    const end = this.#unread.indexOf('\r\n');
    if (end === -1) return false;
    const size = Number.parseInt(this.#unread.slice(0, end), 16);
    this.#unread = this.#unread.slice(end + 2);
    this.#missing = size + 2;
    this.#chunk = size === 0 ? 'last' : 'data';
    return true;
  }

  #finish({ status, headers }: Head): void {
    this.answers.push({ status, headers, body: this.#body });
    this.#head = undefined;
    this.#body = '';
    this.#chunk = 'none';
  }
}

function parseHead(text: string): Head {
  const [first = '', ...fields] = text.split('\r\n');
  const headers = new Map<string, string>();
  for (const field of fields) {
    const name = field.slice(0, field.indexOf(':')).toLowerCase();
    const value = field.slice(field.indexOf(':') + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)!}, ${value}` : value);
  }
  return { status: Number(first.split(' ')[1]), headers };
}
