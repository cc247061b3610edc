import type { Metered } from './cost.js';

/** An operation of the contract, prepared at load time. */
export interface Operation {
  /** `operationId`, or `GET /pets/{petId}`: the name in metrics, log, ledger and plans. May hold any character. */
  readonly id: string;
  readonly method: string;
  /** Template with its base path, with its text in the normal form of requests: `/v1/pets/{petId}`. */
  readonly path: string;
  /** Name of the upstream (a key of `upstreams`); `gateway` if the gateway serves it itself. */
  readonly upstream: string;
  /** True if the last parameter of `path` matches any rest of the path: with slashes, or empty. */
  readonly anyPath?: boolean;
  /**
   * Cost in units, unless the key's plan overrides it; 0 if it only reads the figures. If it is `metered`, what a
   * request holds that does not say how much.
   */
  readonly cost: number;
  /** How the cost is known after the response; null if it is fixed. */
  readonly metered: Metered | null;
  /** False: no key is required. */
  readonly secured: boolean;
  readonly scope: string | null;
  readonly hasBody: boolean;
  readonly stability: 'experimental' | 'beta' | null;
  /** True if a client may turn its connection into a tunnel to the upstream (RFC 6455). */
  readonly websocket: boolean;
  /** How long the upstream may take to begin its response; null: the upstream's own deadline, the upper bound. */
  readonly deadlineMs: number | null;
  /** The largest allowed request body; null: the limit of the settings. */
  readonly bodyBytes: number | null;
  /** Whether responses are streamed, or held until complete as far as they fit; null: depends on their type. */
  readonly stream: boolean | null;
  /** Unix ms from which requests get 410; null for never. */
  readonly sunsetAtMs: number | null;
  /** Deprecation, Sunset, Link and X-Stability of every response of the operation, flat `[name, value, …]`. */
  readonly headers: readonly string[];
  /** From the document, for the reference. */
  readonly tags: readonly string[];
  /** Empty if it has none. */
  readonly summary: string;
  /** The parameters in the path, in its order. */
  readonly parameters: readonly PathParameter[];
}

export interface PathParameter {
  readonly name: string;
  /** JSON Schema without references, as plain data that can be sent to workers; undefined: any text. */
  readonly schema: unknown;
}

export type Match =
  | { readonly kind: 'operation'; readonly operation: Operation }
  /** The path exists; `allow` is the value of Allow (`GET, HEAD, POST, OPTIONS`). */
  | {
      readonly kind: 'options';
      readonly allow: string;
      /** Where to forward it, unless it is a preflight; if absent, the gateway responds itself. */
      readonly operation?: Operation;
    }
  | { readonly kind: 'method_not_allowed'; readonly allow: string }
  /** `setting` is the one that would let the path pass, if there is one. */
  | { readonly kind: 'not_found'; readonly setting?: string };

export interface RouteTable {
  readonly operations: readonly Operation[];
  /** `path` must be in normal form: no query, no dot segments, no needless escapes. HEAD matches GET. */
  match(method: string, path: string): Match;
  /** Returns whether the parameters of a path that matched the operation fit their schemas. */
  fits(operation: Operation, path: string): boolean;
}
