const { once } = require('node:events');
const { WebSocket } = require('ws');

const { URL_, KEY } = process.env;

async function run() {
  const socket = new WebSocket(URL_.replace('http', 'ws'), { headers: { authorization: `Bearer ${KEY}` } });
  await once(socket, 'open');
  const sent = Buffer.alloc(10_000_000, 7);
  for (let n = 0; n < 3; n += 1) {
    socket.send(sent);
    const [frame] = await once(socket, 'message');
    if (!frame.equals(sent)) throw new Error('another frame');
  }
  socket.close();
  await once(socket, 'close');
}
void run();
