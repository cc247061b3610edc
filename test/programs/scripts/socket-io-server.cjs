const { createServer } = require('node:http');
const { Server } = require('socket.io');

const io = new Server();
io.on('connection', (socket) => socket.on('ask', (number, answer) => answer(number + 1)));
const server = createServer((_request, response) => response.end());
io.attach(server);
server.listen(Number(process.argv[2]), '127.0.0.1');
