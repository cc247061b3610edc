import type { Duplex } from 'node:stream';
import type { Metered } from './contract/operation/cost.js';
import type { Match, Operation } from './contract/operation/operation.js';
import type { Subject } from './admission/port.js';
import type { StandingVerdict } from './admission/verdict.js';
import type { Refusal } from './refusal.js';
import type { Meter } from './upstream/meter.js';

/**
 * The client's side of one exchange: the only way to its socket. `edge/` implements it, so that every other step sees
 * plain data. Once `gone` is true, writes are ignored.
 */
export interface Client {
  readonly gone: boolean;
  /** True once the status line has been written: after that, a failure can only abort. */
  readonly started: boolean;
  readonly bytesOut: number;
  /** The other end of the connection: the caller or a proxy. Undefined after a reset. */
  readonly peerAddress: string | undefined;
  readonly isEncrypted: boolean;
  /** Called once, if the client leaves before its response has ended. */
  onGone(listener: () => void): void;
  /** Reserves memory for the body before admission (`declared` bytes; null: chunked), or returns the refusal. */
  reserveBody(declared: number | null, maxBytes: number): Refusal | null;
  /** Returns the body, or a refusal (too large, late, broken), or that the client left. */
  readBody(declared: number | null, maxBytes: number): Promise<Body | Refusal | 'gone'>;
  /** Sends a whole response. Headers are flat: `[name, value, …]`. */
  send(status: number, headers: string[], body: Buffer | string): void;
  /** A streamed response: `start`, then `write` (false: wait for drain), then `end`. */
  start(status: number, headers: string[]): void;
  /** @param from gets the chunk back once it has been written */
  write(chunk: Buffer, from?: ChunkSource | null): boolean;
  onDrain(listener: () => void): void;
  end(): void;
  /** Resets the connection or the HTTP/2 stream: the only honest end of a response that broke off. */
  abort(): void;
  /** Present if the client may get a tunnel instead of a response. */
  readonly handshake?: Handshake;
}

/** A request body: all of it, or the beginning of a long one. */
export interface Body {
  readonly bytes: Buffer;
  /** The remainder; null if `bytes` is the whole body. */
  readonly rest: BodyRest | null;
}

/** The remainder of a body. It is read once, and only as fast as the reader takes it. */
export interface BodyRest {
  /** Length of the whole body, as declared and enforced; null if only its end shows it. */
  readonly length: number | null;
  /** Bytes received so far, including the beginning. */
  readonly bytes: number;
  /** Whether it waits for the client, not for the upstream. */
  readonly awaitsClient: boolean;
  /** True once it has ended, broken off, or been stopped. */
  readonly isOver: boolean;
  watch(watcher: BodyWatcher): void;
  /** Called once it is over; immediately if it already is. */
  onOver(listener: () => void): void;
  /** Continues into `sink`, which learns of the end only if the body is complete. */
  readInto(sink: BodySink): void;
  pause(): void;
  resume(): void;
  /** Ends the body with this refusal: it will never be complete. */
  break(refusal: Refusal): void;
  /** Stops reading: the remainder is not needed. */
  stop(): void;
}

export interface BodySink {
  take(piece: Buffer): void;
  end(): void;
}

export interface BodyWatcher {
  /** It now waits for the client instead of the upstream, or the reverse. */
  onMoved(): void;
  /** Called immediately if the body has already broken off. */
  onBroken(refusal: Refusal): void;
}

export interface ChunkSource {
  /** Optional: returns a chunk that is no longer read, so that its memory can be reused. */
  release(chunk: Buffer): void;
}

/** A client that requests a WebSocket (RFC 6455 §4). */
export interface Handshake {
  readonly key: string;
  /** Returns a client end for one attempt; until it is opened, the client sees nothing of it. */
  createEnd(): ClientEnd;
}

/** The client's end of a tunnel. Once it is open, the response head is written first. */
export interface ClientEnd extends Duplex {
  open(): void;
}

export type TunnelClose = 'client' | 'upstream' | 'idle' | 'lifetime' | 'key' | 'shutdown';

export interface Tunnel {
  /** `performance.now()` when 101 was sent to the client. */
  readonly openedMs: number;
  /** Bytes from and to the client, without the heads. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly closedBy: TunnelClose | null;
}

/** One request and its state so far. Each later type adds what its step found out. */
export interface Exchange {
  /** X-Request-Id: the client's, if it was well-formed. */
  readonly id: string;
  readonly traceparent: string;
  /** False if a new trace began here: the caller's tracestate must not be forwarded. */
  readonly traceContinued: boolean;
  /** HTTP version of the request: `1.0`, `1.1`, `2`; null if it could not be parsed. */
  readonly version: string | null;
  readonly method: string;
  /** In normal form, without the query. */
  readonly path: string;
  /** With its `?`; empty if there is none. */
  readonly query: string;
  /** As received, flat; after `strip`, only what may be forwarded. */
  readonly headers: readonly string[];
  /** All of them as received, for the gateway's own pages. Never logged or forwarded. */
  readonly received: readonly string[];
  /** The value of Host; null for HTTP/1.0 without one. */
  readonly host: string | null;
  /** Scheme and name that the client used: as seen by the listener, or reported by a trusted proxy. */
  readonly scheme: 'http' | 'https';
  readonly publicHost: string | null;
  /** The key in the form of Authorization, wherever it was sent; null without one. Never logged or forwarded. */
  readonly authorization: string | null;
  /** The client's Authorization if keys are read elsewhere, for upstreams that need it. Never logged. */
  readonly clientAuthorization: string | null;
  /** Whether a body follows, according to the framing. */
  readonly hasBody: boolean;
  /** Content-Length in bytes; null if chunked. */
  readonly contentLength: number | null;
  /** The caller's address, and the address of its bucket (IPv6: the /64). */
  readonly address: string;
  readonly addressBucket: string;
  /** `performance.now()` when the request could be decided. */
  readonly startedMs: number;
  /** What was wrong with the request on arrival. */
  readonly fault: Refusal | null;
  readonly client: Client;
  /** Filled in by the steps; `finish` writes it to metrics and the access log. */
  readonly logEntry: ExchangeLog;
}

/** What metrics and the access log record about an exchange. */
export interface ExchangeLog {
  operation: string;
  /** The verdict that the response headers show; null before admission, or if the store is unavailable. */
  verdict: StandingVerdict | null;
  decidedMs: number;
  admissionMs: number;
  upstreamMs: number;
  upstream: string | null;
  refusal: Refusal | null;
  /** The setting that cut the response short; null if none did. */
  setting: string | null;
  /** Cost in units by the contract; 0 for what is free, whether passed or refused. */
  contractCost: number;
  /** How the cost is known after the response; null if it is fixed. */
  metered: Metered | null;
  /** Reads the cost from the response; null if it is fixed, or nothing was sent to an upstream. */
  meter: Meter | null;
  /** What the response cost, in units, if its hold was settled; otherwise null. */
  settled: number | null;
  /** Whether units were charged and counted. Null if unknown: the connection to the store broke first. */
  counted: boolean | null;
  /** Resolves when the outcome of an abandoned admission is known; null for all others. */
  late: Promise<void> | null;
  /** The key if there is no verdict: its admission was abandoned, or its plan is not in force. */
  keyId: string | null;
  /** Why the credential was not valid, for the log. */
  credential: string | null;
  headers: readonly string[];
  /** CORS fields of the response, flat; null if CORS is not configured. */
  cors: readonly string[] | null;
  /** The outcome of a WebSocket handshake; null for an ordinary response. */
  tunnel: Tunnel | null;
  /** For a long body; null for all others. */
  rest: Pick<BodyRest, 'bytes'> | null;
}

declare const stripped: unique symbol;
declare const routed: unique symbol;
declare const identified: unique symbol;
declare const admitted: unique symbol;

export type Stripped = Exchange & { readonly [stripped]: true };
/** With its operation, or the refusal to send unless admission answers 401 or 429 first. */
export type Routed = Stripped & { readonly [routed]: true; readonly requirements: RouteRequirements };
export type Identified = Routed & {
  readonly [identified]: true;
  readonly subject: Subject;
  readonly credential: Credential;
};
/** The permit. Only `admit` creates one, and nothing reaches an upstream without it. */
export type Admitted = Identified & {
  readonly [admitted]: true;
  readonly operation: Operation;
  readonly verdict: StandingVerdict;
  /** The slot reserved at its upstream; null if the gateway responds itself. */
  readonly slot: Slot | null;
};

/** Caller and operation, and the share of slots that one caller may use. */
export interface Asking {
  readonly operation: string;
  readonly caller: string;
  readonly share: number;
}

/** A slot at an upstream, reserved while the request is being admitted. */
export interface Slot {
  readonly asking: Asking;
  /** Call once: when the request is refused, or is being sent. */
  free(): void;
}

export type Credential = 'missing' | 'no_scheme' | 'unknown_scheme' | 'other_environment' | 'malformed' | 'key';

export interface RouteRequirements {
  /** The operation's name in the ledger. */
  readonly operation: string;
  /** The operation whose windows apply; `EVERY_OPERATION` for the one that shows them all. */
  readonly reportsAs: string;
  readonly scope: string | null;
  /** Cost or hold in units, unless the key's plan overrides it; 0 only reads the figures. */
  readonly cost: number;
  /** How the cost is known after the response; null if it is fixed. */
  readonly metered: Metered | null;
  readonly secured: boolean;
  readonly match: Match | null;
  /** A CORS preflight for the upstream: charged to the caller's address, not to a key. */
  readonly isPreflight?: true;
  /** Sent once admission passes: 404, 405, 410, 501, or what was wrong on arrival. */
  readonly refusal: Refusal | null;
}

const NOTHING: readonly string[] = [];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The first of the four promotions. Each step may call only its own: .oxlintrc.json lists the callers. */
export function toStripped(exchange: Exchange, headers: readonly string[]): Stripped {
  (exchange as Mutable<Exchange>).headers = headers;
  return exchange as Stripped;
}

/** The credential of a request, and the request without it. */
type WithoutCredential = Pick<Exchange, 'id' | 'authorization' | 'clientAuthorization' | 'headers' | 'query'>;

export function takeCredential(exchange: Exchange, without: WithoutCredential): Exchange {
  return Object.assign(exchange, without);
}

/** Drops what is no longer needed once the response or the forwarded request is being sent. */
export function releaseFields(exchange: Exchange): void {
  const done = exchange as Mutable<Exchange>;
  done.headers = NOTHING;
  done.received = NOTHING;
  done.authorization = null;
  done.clientAuthorization = null;
  done.query = '';
}

export function toRouted(exchange: Stripped, requirements: RouteRequirements): Routed {
  const next = exchange as unknown as Mutable<Routed>;
  next.requirements = requirements;
  next.logEntry.operation = requirements.operation;
  next.logEntry.contractCost = requirements.cost;
  next.logEntry.metered = requirements.metered;
  return next;
}

export function toIdentified(exchange: Routed, subject: Subject, credential: Credential): Identified {
  const next = exchange as unknown as Mutable<Identified>;
  next.subject = subject;
  next.credential = credential;
  return next;
}

/** No slot is free: it costs nothing, and `refusal` is sent unless admission answers 401, 403 or 429 first. */
export function shed(exchange: Identified, refusal: Refusal): void {
  (exchange as Mutable<Identified>).requirements = { ...exchange.requirements, cost: 0, refusal };
  exchange.logEntry.contractCost = 0;
}

export function toAdmitted(
  exchange: Identified,
  operation: Operation,
  verdict: StandingVerdict,
  slot: Slot | null,
): Admitted {
  const next = exchange as unknown as Mutable<Admitted>;
  next.operation = operation;
  next.verdict = verdict;
  next.slot = slot;
  return next;
}
