import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isLocalAddress } from '../../shared/addresses.js';
import type { Message } from './message.js';

/** The result of an attempt. `gone`: 410, the receiver wants no more. `stopped`: by this gateway. */
export type Outcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'stopped' }
  /** `reason` is for people. It may show what the name resolved to, but nothing of the response body. */
  | { readonly kind: 'failed'; readonly reason: string };

interface SenderOptions {
  readonly url: string;
  readonly allowLocal: boolean;
  readonly timeoutMs: number;
  /** Tests only: replaces the system's resolver. */
  readonly resolve?: typeof lookup;
}

const ANSWER_BYTES = 65_536;
const IDLE_MS = 4_000;

class Unreachable extends Error {
  override readonly name = 'Unreachable';

  constructor(address: string) {
    super(`its address ${address} is local, and PETGATE_EVENTS_ALLOW_LOCAL is not true`);
  }
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** Connects only to allowed addresses. The check is made on each connect: a name may resolve to others later. */
function guarded({ allowLocal, timeoutMs, resolve = lookup }: SenderOptions): buildConnector.connector {
  const isRefused = (address: string): boolean => !allowLocal && isLocalAddress(address);
  const dial = buildConnector({
    timeout: timeoutMs,
    lookup: (host: string, options: LookupOptions, found: LookupCallback) =>
      resolve(host, options, (error, address, family) => {
        if (error !== null) {
          found(error, []);
          return;
        }
        const addresses =
          typeof address === 'string' ? [address] : (address as readonly LookupAddress[]).map((each) => each.address);
        const refused = addresses.find(isRefused);
        if (refused === undefined) found(null, address, family);
        else found(new Unreachable(refused), []);
      }),
  });
  return (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    // Node does not resolve IP addresses.
    if (isIP(host) !== 0 && isRefused(host)) done(new Unreachable(host), null);
    else dial(options, done);
  };
}

/** Posts to the receiver. Does not follow redirects, which could lead anywhere. */
export function createSender(options: SenderOptions) {
  const { timeoutMs } = options;
  const { origin, pathname, search } = new URL(options.url);
  const agent = new Agent({
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    connect: guarded(options),
  });
  let stopped = false;
  const post = async ({ headers, body }: Message): Promise<Outcome> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const target = { origin, path: pathname + search, method: 'POST' as const, headers: { ...headers }, body, signal };
    const answer = await agent.request(target);
    // Only the status matters; reading the rest keeps the connection usable.
    await answer.body.dump({ limit: ANSWER_BYTES, signal }).catch(() => undefined);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return { kind: 'delivered' };
    if (answer.statusCode === 410) return { kind: 'gone' };
    return { kind: 'failed', reason: `it answered ${answer.statusCode}` };
  };
  return {
    send: (message: Message): Promise<Outcome> =>
      post(message).catch((error: unknown) =>
        stopped ? { kind: 'stopped' } : { kind: 'failed', reason: reasonOf(error, timeoutMs) },
      ),
    close: async (): Promise<void> => {
      stopped = true;
      await agent.destroy();
    },
  };
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`;
  if (error instanceof Unreachable) return error.message;
  return `no answer: ${(error as NodeJS.ErrnoException).code ?? error.name}`;
}
