import type { KeyKind } from './subjects/keys.js';

/** What clients send in a case. */
export interface Traffic {
  readonly method: 'GET' | 'POST';
  readonly target: string;
  /** Of the request. */
  readonly bodyBytes: number;
  readonly keys: KeyKind;
  /** Used in turn. */
  readonly keyCount: number;
  readonly connections: number;
  readonly protocol: 'http/1.1' | 'h2';
  /** The answer of all requests but the few that are admitted before a limit is reached. */
  readonly status: number;
}

/** GET of the list with a valid key. */
export const LIST: Traffic = {
  method: 'GET',
  target: '/v1/pets?limit=20',
  bodyBytes: 0,
  keys: 'roomy',
  keyCount: 100,
  connections: 64,
  protocol: 'http/1.1',
  status: 200,
};

/** The upstream answers with as many bytes as `limit` says, when it says more than a page can hold. */
export function answerOf(bytes: number, connections: number): Traffic {
  return { ...LIST, target: `/v1/pets?limit=${bytes}`, connections };
}

/** Where a load goes, and with which tokens. */
export interface Aim {
  readonly port: number;
  readonly tls: boolean;
  readonly traffic: Traffic;
  readonly tokens: readonly string[];
}

/** Fields of every request beside Host, the same for each subject. */
export function fieldsOf({ traffic: { bodyBytes } }: Aim): Readonly<Record<string, string>> {
  const ofBody = bodyBytes === 0 ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(bodyBytes) };
  return { 'User-Agent': 'bench', Accept: 'application/json', ...ofBody };
}

export function bodyOf({ bodyBytes }: Traffic): string {
  const frame = '{"name":"","categoryId":7,"status":"available"}';
  return bodyBytes === 0 ? '' : frame.replace('""', `"${'n'.repeat(bodyBytes - frame.length)}"`);
}
