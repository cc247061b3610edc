import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { asksForWebSocket, handshakeFault } from '../../../../src/gateway/edge/websocket/handshake.js';
import { KEY } from '../../../servers/tunnel.js';

/** A request with this line and these fields, as Node's parser gives it. */
function request(line: string, ...fields: readonly string[]): IncomingMessage {
  const [method = '', url = '', version = ''] = line.split(' ');
  const rawHeaders = fields.flatMap((field) => [
    field.slice(0, field.indexOf(':')),
    field.slice(field.indexOf(':') + 1).trim(),
  ]);
  return { method, url, httpVersion: version.slice('HTTP/'.length), rawHeaders } as unknown as IncomingMessage;
}

const LINE = 'GET /v1/pets/watch HTTP/1.1';

t.test('only a GET of HTTP/1.1 without a body, with one Upgrade that says websocket, asks for a WebSocket', (t) => {
  for (const value of ['websocket', 'WebSocket', 'WEBSOCKET'])
    t.ok(asksForWebSocket(request(LINE, 'Host: x', `Upgrade: ${value}`)), value);
  for (const value of ['', 'h2c', 'websocket, h2c', 'h2c, websocket', 'websocket/13', 'xwebsocket', 'websocket\t']) {
    if (value.trim() !== 'websocket') t.notOk(asksForWebSocket(request(LINE, `Upgrade: ${value}`)), value);
  }
  t.ok(asksForWebSocket(request(LINE, 'Upgrade: websocket', 'Content-Length: 0')), 'as Envoy sends them');
  t.notOk(asksForWebSocket(request(LINE, 'Host: x')), 'no Upgrade');
  t.notOk(asksForWebSocket(request(LINE, 'Upgrade: websocket', 'upgrade: websocket')), 'two');
  for (const field of [
    'Content-Length: 00',
    'content-length: 5',
    'Transfer-Encoding: chunked',
    'EXPECT: 100-continue',
  ]) {
    t.notOk(asksForWebSocket(request(LINE, 'Upgrade: websocket', field)), field);
  }
  for (const line of [LINE.replace('GET', 'POST'), LINE.replace('GET', 'HEAD'), LINE.replace('1.1', '1.0')])
    t.notOk(asksForWebSocket(request(line, 'Upgrade: websocket')), line);
  t.end();
});

t.test('a handshake has one key of 16 bytes and one version, 13, and nothing behind it', (t) => {
  const fault = (fields: readonly string[], head = ''): string | undefined =>
    handshakeFault(request(LINE, ...fields), Buffer.from(head))?.code;
  const version = 'Sec-WebSocket-Version: 13';
  const key = `Sec-WebSocket-Key: ${KEY}`;
  t.equal(fault([version, key]), undefined);
  t.equal(fault([version, key], 'x'), 'malformed_handshake', 'bytes behind it');
  for (const bad of [
    '',
    'x',
    KEY.slice(1),
    `${KEY}=`,
    KEY.replace('==', ''),
    KEY.replace('Q==', 'R=='),
    `${KEY} ${KEY}`,
    `${KEY},${KEY}`,
  ]) {
    t.equal(fault([version, `Sec-WebSocket-Key: ${bad}`]), 'malformed_handshake', `key "${bad}"`);
  }
  for (const bad of ['', '8', '13, 8', '13.0', '013'])
    t.equal(fault([key, `Sec-WebSocket-Version: ${bad}`]), 'malformed_handshake', `version "${bad}"`);
  t.equal(fault([version]), 'malformed_handshake', 'no key');
  t.equal(fault([key]), 'malformed_handshake', 'no version');
  t.equal(fault([key, key, version]), 'malformed_handshake', 'two keys');
  t.equal(fault([key, version, version]), 'malformed_handshake', 'two versions');
  t.end();
});
