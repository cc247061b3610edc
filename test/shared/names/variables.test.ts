import t from 'tap';
import { misspelt, readVariable, VARIABLES } from '../../../src/shared/names/variables.js';

const refused = (environment: NodeJS.ProcessEnv): readonly string[] => misspelt(environment).map(({ name }) => name);

t.test('one slip from a variable that is not set: a letter more, less or other, or two swapped', (t) => {
  for (const name of ['REDIS_URLS', 'REDISURL', 'REDIS_URI', 'REDIS_ULR']) {
    t.match(misspelt({ [name]: 'x' }), [{ name, message: 'not known; did you mean "REDIS_URL"?' }]);
    t.same(refused({ [name]: 'x', REDIS_URL: 'redis://h' }), [], `${name} beside the right one`);
    t.same(refused({ [name]: ' ' }), [], 'an empty one says nothing');
    t.same(refused({ [name]: 'x', REDIS_URL: ' ' }), [name], 'nor does an empty right one');
  }
  t.same(refused({ PORTS: '1', HOSTS: 'a', PATH: '/bin', POST: '1', HOME: '/', REDIS_HOST: 'r', XREDIS_ULR: '1' }), []);
  t.end();
});

t.test('whatever begins with PETGATE_ and is not known', (t) => {
  t.match(misspelt({ PETGATE_WORKER: '2' }), [{ message: 'not known; did you mean "PETGATE_WORKERS"?' }]);
  t.match(misspelt({ PETGATE_WORKER: '2', PETGATE_WORKERS: '1' }), [{ name: 'PETGATE_WORKER' }], 'set or not');
  t.match(misspelt({ PETGATE_XYLOPHONE: '2' }), [{ message: /^not known; known here: PETGATE_ADMIN_TOKEN, / }]);
  t.same(refused({ PETGATE_TEST_CLOCK: '1', PETGATE_EMPTY: '' }), []);
  t.same(refused(Object.fromEntries(VARIABLES.map((name) => [name, 'x']))), []);
  t.end();
});

t.test("Kubernetes' service links are neither a slip nor a value", (t) => {
  const links = {
    PETGATE_GATEWAY_SERVICE_HOST: '10.0.0.1',
    PETGATE_GATEWAY_SERVICE_PORT: '80',
    PETGATE_GATEWAY_SERVICE_PORT_HTTP: '80',
    PETGATE_GATEWAY_PORT: 'tcp://10.0.0.1:80',
    PETGATE_GATEWAY_PORT_80_TCP: 'tcp://10.0.0.1:80',
    PETGATE_GATEWAY_PORT_80_TCP_PROTO: 'tcp',
    PETGATE_GATEWAY_PORT_80_TCP_PORT: '80',
    PETGATE_GATEWAY_PORT_80_TCP_ADDR: '10.0.0.1',
    PETS_PORT: 'tcp://10.0.0.2:8081',
  };
  t.same(refused(links), []);
  t.equal(readVariable(links, 'PETS_PORT'), '');
  t.equal(readVariable({ PETS_PORT: ' 81\n' }, 'PETS_PORT'), '81');
  t.equal(readVariable({ PETS_PORT: '\u00a081' }, 'PETS_PORT'), '\u00a081', 'what only looks like a blank stays');
  t.same(refused({ PETGATE_GATEWAY_PORT: '80' }), ['PETGATE_GATEWAY_PORT']);
  t.end();
});
