import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';

interface Service {
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const read = (path: string): unknown => parse(readFileSync(join(packageRoot, path), 'utf8'), { merge: true });
const { services, networks, volumes } = read('compose.yaml') as Compose;
const watching = { prometheus: services['prometheus']!, grafana: services['grafana']! };

t.test('compose starts Prometheus and Grafana on our files, for this machine alone', (t) => {
  for (const [name, service] of Object.entries(watching)) {
    t.ok(
      service.ports?.every((port) => port.startsWith('127.0.0.1:')),
      `${name}: not for others`,
    );
    t.ok(
      service.networks.some((network) => networks[network]?.internal !== true),
      `${name}: a published port needs a network with a way out`,
    );
    for (const volume of service.volumes) {
      const [source = '', , mode] = volume.split(':');
      if (source.startsWith('./'))
        t.ok(existsSync(join(packageRoot, source)) && mode === 'ro', `${name}: ${source} exists and is only read`);
      else t.ok(source in volumes, `${name}: ${source} is declared`);
    }
  }
  t.end();
});

t.test('Prometheus finds what it scrapes: names, ports and networks fit', (t) => {
  const { scrape_configs: jobs } = read('grafana/prometheus.yaml') as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  const targets = jobs.flatMap(({ static_configs: configs }) => configs.flatMap((config) => config.targets));
  t.strictSame(targets, ['gateway:9090', 'pets:8081']);
  for (const target of targets)
    t.ok(
      services[target.split(':')[0]!]?.networks.some((network) => watching.prometheus.networks.includes(network)),
      target,
    );
  t.equal(services['gateway']?.environment?.['ADMIN_HOST'], '0.0.0.0', 'or nobody else could scrape it');
  const [config = ''] = watching.prometheus.command ?? [];
  t.ok(
    watching.prometheus.volumes.some((volume) => volume.includes(`:${config.split('=')[1]!}:`)),
    'the file it is told to read is mounted',
  );
  t.end();
});

t.test('Grafana finds Prometheus and the dashboards', (t) => {
  const {
    datasources: [source],
  } = read('grafana/provisioning/datasources/prometheus.yaml') as { datasources: { url: string }[] };
  t.equal(source?.url, 'http://prometheus:9090');
  t.ok(watching.grafana.networks.some((network) => watching.prometheus.networks.includes(network)));
  const {
    providers: [provider],
  } = read('grafana/provisioning/dashboards/petgate.yaml') as { providers: { options: { path: string } }[] };
  t.ok(watching.grafana.volumes.includes(`./grafana/dashboards:${provider?.options.path ?? ''}:ro`));
  t.end();
});

t.test('Redis wants a password, from no command line, and is on a network with the gateway alone', (t) => {
  const redis = services['redis']!;
  for (const network of redis.networks) {
    t.equal(networks[network]?.internal, true);
    const members = Object.entries(services).filter(([, service]) => service.networks.includes(network));
    t.same(members.map(([name]) => name).sort(), ['gateway', 'redis']);
  }
  t.match(services['gateway']?.environment?.['REDIS_URL'], /^redis:\/\/:\$\{REDIS_PASSWORD/);
  t.match(redis.command?.at(-1), /^exec redis-server - .*<<END\nrequirepass \$\$REDIS_PASSWORD\nEND\n$/);
  t.end();
});
