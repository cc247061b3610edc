import { lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent } from 'undici';
import { isLocalAddress } from '../../shared/local-address.js';
import type { Message } from './message.js';

/**
 * How an attempt ended. `gone`: the receiver wants no more (410, Standard Webhooks). `stopped`: we ended it. `unwanted`:
 * there is nobody to send it to any more.
 */
export type Outcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'unwanted' }
  /** `reason` is for people: it holds nothing of the address but what it resolved to, and nothing of the answer's body. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface Sender {
  send(url: string, message: Message): Promise<Outcome>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

interface SenderOptions {
  readonly allowLocal: boolean;
  /** Of an attempt. */
  readonly timeoutMs: number;
}

const ANSWER_BYTES = 65_536;
const IDLE_MS = 4_000;

class LocalAddress extends Error {
  override readonly name = 'LocalAddress';

  constructor(address: string) {
    super(`its address ${address} is local, and PETGATE_EVENTS_ALLOW_LOCAL is not true`);
  }
}

type Found = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Resolves names for a connection that is about to be made, so that what was checked is what is dialled; refuses the
 * whole name when one of its addresses is local.
 */
function publicLookup(host: string, options: LookupOptions, found: Found): void {
  lookup(host, options, (error, address, family) => {
    if (error !== null) {
      found(error, []);
      return;
    }
    const addresses =
      typeof address === 'string' ? [address] : (address as readonly LookupAddress[]).map((each) => each.address);
    const refused = addresses.find(isLocalAddress);
    if (refused === undefined) found(null, address, family);
    else found(new LocalAddress(refused), []);
  });
}

/** Posts to receivers. Redirects are not followed: they could lead anywhere. */
export function createSender({ allowLocal, timeoutMs }: SenderOptions): Sender {
  const agent = new Agent({
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    connect: { timeout: timeoutMs, ...(allowLocal ? {} : { lookup: publicLookup }) },
  });
  let stopped = false;
  const post = async (url: string, { headers, body }: Message): Promise<Outcome> => {
    const { origin, pathname, search, hostname } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    // Node asks no resolver about an address.
    if (!allowLocal && isIP(host) !== 0 && isLocalAddress(host)) throw new LocalAddress(host);
    const signal = AbortSignal.timeout(timeoutMs);
    const target = { origin, path: pathname + search, method: 'POST' as const, headers: { ...headers }, body, signal };
    const answer = await agent.request(target);
    // The status says it all; reading on keeps the connection.
    await answer.body.dump({ limit: ANSWER_BYTES, signal }).catch(() => undefined);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return { kind: 'delivered' };
    if (answer.statusCode === 410) return { kind: 'gone' };
    return { kind: 'failed', reason: `it answered ${answer.statusCode}` };
  };
  return {
    send: (url, message) =>
      post(url, message).catch((error: unknown) =>
        stopped ? { kind: 'stopped' } : { kind: 'failed', reason: reasonOf(error, timeoutMs) },
      ),
    close: async () => {
      stopped = true;
      await agent.destroy();
    },
  };
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`;
  if (error instanceof LocalAddress) return error.message;
  return `no answer: ${(error as NodeJS.ErrnoException).code ?? error.name}`;
}
