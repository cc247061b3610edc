import { request } from 'node:http';

const TIMEOUT_MS = 2_000;

/** Resolves to whether the response to a GET of `url` is 200. */
export function answersReady(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const req = request(url, { agent: false, timeout: TIMEOUT_MS }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    req.on('timeout', () => req.destroy());
    req.on('error', () => resolve(false));
    req.end();
  });
}
