/** One operation of the contract, with all that the gateway needs of it worked out at load time. */
export interface Operation {
  /** `operationId`, or `GET /pets/{petId}`: the name in metrics, log, ledger and plans. May hold any character. */
  readonly id: string;
  readonly method: string;
  /** Template with its base path, its text in the normal form of requests: `/v1/pets/{petId}`. */
  readonly path: string;
  /** Name of the upstream (a key of `upstreams`); `gateway` when the gateway answers itself. */
  readonly upstream: string;
  /** True where the parameter at the end of `path` stands for any rest, `/` and nothing included. */
  readonly anyPath?: boolean;
  /** Units that a request takes, unless the key's plan says otherwise; 0 for what only shows figures. */
  readonly cost: number;
  /** False: anyone may ask, with or without a key. */
  readonly secured: boolean;
  readonly scope: string | null;
  readonly hasBody: boolean;
  readonly stability: 'experimental' | 'beta' | null;
  /** True where a client may turn its connection into a tunnel to the upstream (RFC 6455). */
  readonly websocket: boolean;
  /** How long the upstream may take to begin its response; null: the upstream's own, which is never exceeded. */
  readonly deadlineMs: number | null;
  /** The longest body of a request; null: that of the settings. */
  readonly bodyBytes: number | null;
  /** Whether responses are passed on piece by piece, or as far as they fit held until complete; null: by their type. */
  readonly stream: boolean | null;
  /** Unix ms after which the operation answers 410; null for never. */
  readonly sunsetAtMs: number | null;
  /** Deprecation, Sunset, Link and X-Stability, flat `[name, value, …]`, put on every answer of the operation. */
  readonly headers: readonly string[];
  /** As the document says, for the reference. */
  readonly tags: readonly string[];
  /** Those of the path that have a schema; any other is text. */
  readonly parameters: readonly PathParameter[];
}

export interface PathParameter {
  readonly name: string;
  /** JSON Schema without references, plain, so that it can be sent to workers; undefined: any text. */
  readonly schema: unknown;
}

export type Match =
  | { readonly kind: 'operation'; readonly operation: Operation }
  /** The path exists; `allow` is the value of Allow (`GET, HEAD, POST, OPTIONS`). */
  | {
      readonly kind: 'options';
      readonly allow: string;
      /** Where it is forwarded unless it is a preflight; left out: the gateway answers it. */
      readonly operation?: Operation;
    }
  | { readonly kind: 'method_not_allowed'; readonly allow: string }
  /** @param setting that would let the path pass, if one would */
  | { readonly kind: 'not_found'; readonly setting?: string };

export interface RouteTable {
  readonly operations: readonly Operation[];
  /** `path` is normal form (no query, no dot segments, nothing escaped that need not be). HEAD is served as GET. */
  match(method: string, path: string): Match;
  /** Whether the parameters of a path that leads to the operation fit their schemas. */
  fits(operation: Operation, path: string): boolean;
}
