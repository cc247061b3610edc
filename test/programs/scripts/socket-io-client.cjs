const { io } = require('socket.io-client');

const { URL_, KEY } = process.env;

async function run() {
  for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
    const socket = io(URL_, { transports, extraHeaders: { authorization: `Bearer ${KEY}` } });
    await new Promise((resolve, reject) => socket.on('connect', resolve).on('connect_error', reject));
    for (let n = 0; n < 20; n += 1)
      if ((await socket.timeout(10_000).emitWithAck('ask', n)) !== n + 1) throw new Error('another answer');
    socket.close();
  }
}
void run();
