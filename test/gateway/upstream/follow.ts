import { get, type IncomingMessage } from 'node:http';
import type { Test } from 'tap';
import type { Front } from '../../attacks/front.js';

/** A request that a test follows as its response comes: how it ended, in order or cut, once it did. */
interface Followed {
  readonly answer: IncomingMessage;
  text: string;
  end: 'ended' | 'cut' | null;
}

/** Sends a request; resolves with the head of its response. */
export function follow(t: Test, { gateway, key }: Front, path = '/a'): Promise<Followed> {
  const headers = { authorization: key.slice('Authorization: '.length), 'x-request-id': 'followed' };
  return new Promise((resolve) =>
    get(`${gateway.url}${path}`, { agent: false, headers }, (answer) => {
      const followed: Followed = { answer, text: '', end: null };
      t.teardown(() => answer.destroy());
      answer.setEncoding('latin1').on('data', (text: string) => (followed.text += text));
      answer.on('end', () => (followed.end = 'ended')).on('error', () => (followed.end = 'cut'));
      resolve(followed);
    }),
  );
}
