/** Header fields of one response, in addition to the common ones. */
export type Headers = Readonly<Record<string, string | string[]>>;

/** The result of a handler: JSON, text, a stream of text, or nothing (204). `status` overrides the action's own. */
export type Answer =
  | { readonly json: object; readonly status?: number }
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly chunks: AsyncIterable<string | Buffer>; readonly headers?: Headers }
  | undefined;

/** A refusal of the admin API. The message tells the operator what to do. */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Headers;

  constructor(status: number, code: string, message: string, headers: Headers = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}
