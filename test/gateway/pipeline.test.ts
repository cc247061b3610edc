import t from 'tap';
import { loadContract } from '../../src/gateway/contract/load.js';
import { toAdmitted, toIdentified, toRouted, toStripped } from '../../src/gateway/exchange.js';
import { pipeline, STEPS, type Steps } from '../../src/gateway/pipeline.js';
import { isRefusal, REFUSALS } from '../../src/gateway/refusal.js';
import { ADMITTED } from './admission/verdict.js';
import { makeExchange } from './exchange.js';

const [OPERATION] = loadContract().routes.operations;
const REQUIREMENTS = {
  operation: 'listPets',
  reportsAs: 'listPets',
  scope: null,
  cost: 1,
  metered: null,
  secured: true,
  match: null,
  refusal: null,
} as const;

/** Steps that say that they ran, and let everything through. */
function passing(ran: string[]): Steps {
  const says =
    <Given, Gives>(name: string, step: (given: Given) => Gives) =>
    (given: Given): Gives => {
      ran.push(name);
      return step(given);
    };
  return {
    strip: says('strip', (exchange) => toStripped(exchange, [])),
    route: says('route', (exchange) => toRouted(exchange, REQUIREMENTS)),
    identify: says('identify', (exchange) =>
      toIdentified(exchange, { kind: 'address', address: '192.0.2.1' }, 'missing'),
    ),
    admit: says('admit', (exchange) =>
      Promise.resolve(toAdmitted(exchange, OPERATION!, { ...ADMITTED, keyId: null, recordVersion: null }, null)),
    ),
    forward: says('forward', (exchange) => Promise.resolve(exchange)),
  };
}

t.test('the pipeline runs its steps in order', async (t) => {
  const ran: string[] = [];
  const { exchange } = makeExchange();
  t.notOk(isRefusal(await pipeline(passing(ran))(exchange)));
  t.same(['open', ...ran, 'finish'], STEPS);
});

t.test('nothing is forwarded after a refusal, and what forward refuses is given', async (t) => {
  const ran: string[] = [];
  const { exchange } = makeExchange();
  t.equal(
    await pipeline({ ...passing(ran), admit: () => Promise.resolve(REFUSALS.rate_limited) })(exchange),
    REFUSALS.rate_limited,
  );
  t.same(ran, ['strip', 'route', 'identify']);
  t.equal(
    await pipeline({ ...passing(ran), forward: () => Promise.resolve(REFUSALS.upstream_failed) })(exchange),
    REFUSALS.upstream_failed,
  );
});

t.test('a bug is no refusal', async (t) => {
  const bug = (): never => {
    throw new TypeError('bug');
  };
  await t.rejects(pipeline({ ...passing([]), strip: bug })(makeExchange().exchange), { message: 'bug' });
  await t.rejects(
    pipeline({ ...passing([]), forward: () => Promise.reject(new TypeError('bug')) })(makeExchange().exchange),
    { message: 'bug' },
  );
});
