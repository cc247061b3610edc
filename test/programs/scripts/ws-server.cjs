const { createServer } = require('node:http');
const { WebSocketServer } = require('ws');

const server = createServer((_request, response) => response.end());
new WebSocketServer({ server }).on('connection', (socket) => socket.on('message', (frame) => socket.send(frame)));
server.listen(Number(process.argv[2]), '127.0.0.1');
