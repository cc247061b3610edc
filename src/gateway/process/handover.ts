import { exampleRequest } from '../contract/example.js';
import { ACCOUNT, DOCS, ownOperation } from '../contract/own.js';
import { curlArguments, quoted } from '../refusals/credential-location.js';
import type { Handover } from '../actions/action.js';
import type { Base } from './base.js';

const ANY_HOST = ['0.0.0.0', '::'];

/** Returns what a developer needs with a new key, at the address of this gateway's listener. */
export function handoverOf({ settings, contract }: Pick<Base, 'settings' | 'contract'>): Handover {
  const { operations } = contract.routes;
  const { host, port } = settings.listen;
  const name = ANY_HOST.includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const base = `${settings.tls === undefined ? 'http' : 'https'}://${name}:${port}`;
  const { method, target } = exampleRequest(contract);
  const addressOf = (id: string): string | null => {
    const path = ownOperation(operations, id)?.path;
    return path === undefined ? null : base + path;
  };
  const options = method === 'GET' ? '' : `-X ${method} `;
  return {
    curl: (key) => `curl -i ${options}${curlArguments(settings.credentials, base + target, key, quoted)}`,
    docs: addressOf(DOCS),
    account: addressOf(ACCOUNT),
  };
}
