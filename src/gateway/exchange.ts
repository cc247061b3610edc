import type { Duplex } from 'node:stream';
import type { Match, Operation } from './contract/operation.js';
import type { Subject } from './admission/port.js';
import type { StandingVerdict } from './admission/verdict.js';
import type { Refusal } from './refusal.js';

/**
 * The client's side of one exchange: the only way to its socket. `edge/` implements it, so that every other step sees
 * plain data. After `gone` is true all writes are swallowed.
 */
export interface Client {
  readonly gone: boolean;
  /** True once a status line was written: from then on a failure can only abort. */
  readonly started: boolean;
  readonly bytesOut: number;
  /** Who is at the other end of the connection: the caller, or a proxy. Undefined once it was reset. */
  readonly peerAddress: string | undefined;
  readonly isEncrypted: boolean;
  /** Called once if the client leaves before its answer ended. */
  onGone(listener: () => void): void;
  /** Before admission: a place for its body (`declared` bytes; null: chunked), and room; or why there is none. */
  reserveBody(declared: number | null, maxBytes: number): Refusal | null;
  /** The body, or why there is none: too large, late, broken (a refusal), or the client left. */
  readBody(declared: number | null, maxBytes: number): Promise<Body | Refusal | 'gone'>;
  /** A whole answer. Headers are flat `[name, value, …]`. */
  send(status: number, headers: string[], body: Buffer | string): void;
  /** A streamed answer: start, then write (false asks to wait for drain), then end. */
  start(status: number, headers: string[]): void;
  /** @param from gets the chunk back once it is written */
  write(chunk: Buffer, from?: ChunkSource | null): boolean;
  onDrain(listener: () => void): void;
  end(): void;
  /** Cuts the connection, or the stream of HTTP/2: the only honest end for an answer that broke after it started. */
  abort(): void;
  /** Only of a client that may have a tunnel instead of an answer. */
  readonly handshake?: Handshake;
}

/** The body of a request: all of it, or how a long one begins. */
export interface Body {
  readonly bytes: Buffer;
  /** What follows; null: `bytes` is all. */
  readonly rest: BodyRest | null;
}

/** What is still to come of a body. It is read once, and only as fast as it is taken. */
export interface BodyRest {
  /** Of the whole body, as its client declared it and is held to; null: only its end will tell. */
  readonly length: number | null;
  /** That have come so far, the beginning included. */
  readonly bytes: number;
  /** Whether it is the client that it waits for, and nobody else. */
  readonly awaitsClient: boolean;
  /** It came to its end, broke off, or was stopped. */
  readonly isOver: boolean;
  watch(watcher: BodyWatcher): void;
  /** Called once it is over, also where it is so already. */
  onOver(listener: () => void): void;
  /** Reads on into `sink`, which hears of the end of a whole body alone. */
  readInto(sink: BodySink): void;
  pause(): void;
  resume(): void;
  /** It lasted too long. */
  break(refusal: Refusal): void;
  /** No more of it is wanted. */
  stop(): void;
}

export interface BodySink {
  take(piece: Buffer): void;
  end(): void;
}

export interface BodyWatcher {
  /** Who it waits for has changed. */
  onMoved(): void;
  /** Called at once where it is broken already. */
  onBroken(refusal: Refusal): void;
}

export interface ChunkSource {
  /** Nobody reads this chunk any more: its memory may serve again. Whoever can't know lets it be. */
  release(chunk: Buffer): void;
}

/** A client that asks for a WebSocket (RFC 6455 §4). */
export interface Handshake {
  readonly key: string;
  /** An end for one attempt at a tunnel; as long as it isn't opened, the client knows nothing of it. */
  createEnd(): ClientEnd;
}

/** The client's end of a tunnel. The first thing written into it, once it is open, is the head of the answer. */
export interface ClientEnd extends Duplex {
  open(): void;
}

export type TunnelClose = 'client' | 'upstream' | 'idle' | 'lifetime' | 'key' | 'shutdown';

export interface Tunnel {
  /** `performance.now()` when the client was answered 101. */
  readonly openedMs: number;
  /** Bytes that came from the client, and went to it, after the heads. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly closedBy: TunnelClose | null;
}

/** One request and what became of it so far. Each later type adds what its step found out. */
export interface Exchange {
  /** X-Request-Id, the client's when it was well-formed. */
  readonly id: string;
  readonly traceparent: string;
  /** False: a new trace began here, so the caller's tracestate must not travel on. */
  readonly traceContinued: boolean;
  /** Of HTTP, as the request said it: `1.0`, `1.1`, `2`; null of one that could not be read. */
  readonly version: string | null;
  readonly method: string;
  /** Normal form, no query. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
  /** As they came, flat; after `strip` only what may travel on. */
  readonly headers: readonly string[];
  /** All of them as they came, for the gateway's own pages. Never logged or forwarded. */
  readonly received: readonly string[];
  /** The value of Host; null of HTTP/1.0 without one. */
  readonly host: string | null;
  /** How the client called, and by which name: as it reached the listener, or as a trusted proxy says. */
  readonly scheme: 'http' | 'https';
  readonly publicHost: string | null;
  /** The key, as Authorization says it, wherever it was sent; null when there is none. Never logged or forwarded. */
  readonly authorization: string | null;
  /** The client's Authorization where no key is read from it: for upstreams that ask for it. Never logged. */
  readonly clientAuthorization: string | null;
  /** Whether a body follows, by its framing. */
  readonly hasBody: boolean;
  /** Declared by Content-Length, bytes; null when chunked. */
  readonly contentLength: number | null;
  /** The caller's address, and its bucket form (an IPv6 by its /64). */
  readonly address: string;
  readonly addressBucket: string;
  /** `performance.now()` when the request was complete enough to decide on. */
  readonly startedMs: number;
  /** What was wrong already when the request came in. */
  readonly fault: Refusal | null;
  readonly client: Client;
  /** Filled in by the steps; `finish` records it in metrics and the access log. */
  readonly logEntry: ExchangeLog;
}

/** What metrics and the access log know of an exchange when it ends. */
export interface ExchangeLog {
  operation: string;
  /** The verdict whose figures the answer shows; null while none was reached or the store is unavailable. */
  verdict: StandingVerdict | null;
  decidedMs: number;
  admissionMs: number;
  upstreamMs: number;
  upstream: string | null;
  refusal: Refusal | null;
  /** The setting that ended its response early; null where none did. */
  setting: string | null;
  /** Units that the contract asks for; 0 of what is let pass, or refused, for nothing. */
  contractCost: number;
  /** Whether a token was taken, and counted in the ledger. null: nobody knows, the store's connection died first. */
  counted: boolean | null;
  /** Ends when it is known what the store did of an admission that was given up; null of all others. */
  late: Promise<void> | null;
  /** The key, where there is no verdict: its admission was given up, or its plan is not in force. */
  keyId: string | null;
  /** Why a credential was no good, for the log. */
  credential: string | null;
  headers: readonly string[];
  /** The CORS fields of its answer, flat; null while CORS is not configured. */
  cors: readonly string[] | null;
  /** What became of the handshake; null on everything that is answered. */
  tunnel: Tunnel | null;
  /** Of a long body; null of all others. */
  rest: Pick<BodyRest, 'bytes'> | null;
}

declare const stripped: unique symbol;
declare const routed: unique symbol;
declare const identified: unique symbol;
declare const admitted: unique symbol;

export type Stripped = Exchange & { readonly [stripped]: true };
/** Its operation is known, or the refusal that stands unless admission says 401 or 429. */
export type Routed = Stripped & { readonly [routed]: true; readonly requirements: RouteRequirements };
export type Identified = Routed & {
  readonly [identified]: true;
  readonly subject: Subject;
  readonly credential: Credential;
};
/** The permit. Only `admit` makes one, and nothing reaches an upstream without it. */
export type Admitted = Identified & {
  readonly [admitted]: true;
  readonly operation: Operation;
  readonly verdict: StandingVerdict;
  /** Held for it at its upstream; null where the gateway answers itself. */
  readonly slot: Slot | null;
};

/** Who asks for what, and the part of an operation's places, and of an address's, that one caller may have. */
export interface Asking {
  readonly operation: string;
  readonly caller: string;
  readonly share: number;
}

/** A place at an upstream, held for a request while it is asked whether that may pass. */
export interface Slot {
  readonly asking: Asking;
  /** Once: it was refused, or is being sent. */
  free(): void;
}

export type Credential = 'missing' | 'no_scheme' | 'unknown_scheme' | 'other_environment' | 'malformed' | 'key';

export interface RouteRequirements {
  /** What the ledger counts under. */
  readonly operation: string;
  /** Whose windows hold and are shown: its own, or of all (`EVERY_OPERATION`) for the operation that shows them. */
  readonly reportsAs: string;
  readonly scope: string | null;
  /** Units, unless the key's plan says otherwise; 0 shows the figures alone. */
  readonly cost: number;
  readonly secured: boolean;
  readonly match: Match | null;
  /** A CORS preflight for the upstream: nobody's key pays for it, but its caller's address. */
  readonly isPreflight?: true;
  /** Stands once admission let the request in: 404, 405, 410, 501 or what was wrong from the start. */
  readonly refusal: Refusal | null;
}

const NOTHING: readonly string[] = [];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The four promotions. Each step calls its own and no other: eslint.config.js names the callers. */
export function toStripped(exchange: Exchange, headers: readonly string[]): Stripped {
  (exchange as Mutable<Exchange>).headers = headers;
  return exchange as Stripped;
}

/** What a request said of its credential, and what is left of it without. */
type WithoutCredential = Pick<Exchange, 'id' | 'authorization' | 'clientAuthorization' | 'headers' | 'query'>;

export function takeCredential(exchange: Exchange, without: WithoutCredential): Exchange {
  return Object.assign(exchange, without);
}

/** What nobody asks for once the exchange was answered or forwarded. */
export function releaseRequest(exchange: Exchange): void {
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
  return next;
}

export function toIdentified(exchange: Routed, subject: Subject, credential: Credential): Identified {
  const next = exchange as unknown as Mutable<Identified>;
  next.subject = subject;
  next.credential = credential;
  return next;
}

/** There is no place for it: it costs nothing, and `refusal` stands unless admission says 401, 403 or 429. */
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
