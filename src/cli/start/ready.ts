import { request } from 'node:http';

const ANSWER_MS = 2_000;

/** True when a GET of `url` answers 200. */
export function answersReady(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const req = request(url, { agent: false, timeout: ANSWER_MS }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    req.on('timeout', () => req.destroy());
    req.on('error', () => resolve(false));
    req.end();
  });
}
