import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The service behind, of its own process: the same small answer to everything. */
const body = Buffer.from(`[${Array.from({ length: 4 }, (_, n) => JSON.stringify({ id: n + 1, name: `pet number ${n + 1}`, categoryId: 7, status: 'available' })).join()}]`);

const server = createServer({ keepAliveTimeout: 600_000 }, (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
