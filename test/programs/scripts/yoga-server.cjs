const { createServer } = require('node:http');
const { setTimeout: delay } = require('node:timers/promises');
const { createSchema, createYoga } = require('graphql-yoga');

const typeDefs = 'type Query { a: Int } type Subscription { count: Int }';
async function* subscribe() {
  for (let count = 0; count < 3; count += 1) {
    yield { count };
    await delay(200);
  }
}
const resolvers = { Query: { a: () => 1 }, Subscription: { count: { subscribe } } };
const yoga = createYoga({ logging: false, schema: createSchema({ typeDefs, resolvers }) });
createServer(yoga).listen(Number(process.argv[2]), '127.0.0.1');
