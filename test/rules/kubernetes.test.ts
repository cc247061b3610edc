import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';

interface Container {
  readonly name: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly ingress?: readonly { readonly from?: readonly unknown[] }[];
    readonly template?: {
      readonly spec: {
        readonly containers: readonly Container[];
        readonly terminationGracePeriodSeconds: number;
        readonly enableServiceLinks: boolean;
      };
    };
  };
}

const text = readFileSync(join(packageRoot, 'config/kubernetes/petgate.yaml'), 'utf8');
const manifests = parseAllDocuments(text).map((document) => {
  t.strictSame(document.errors, []);
  return document.toJS() as Manifest;
});
const deployments = manifests.filter(({ kind }) => kind === 'Deployment');

t.test('two deployments, each with probes, drain time, disruption budget and a locked-down container', (t) => {
  t.strictSame(
    deployments.map(({ metadata }) => metadata.name),
    ['petgate-gateway', 'petgate-pets'],
  );
  for (const { metadata, spec } of deployments) {
    const { containers, terminationGracePeriodSeconds, enableServiceLinks } = spec.template!.spec;
    t.equal(enableServiceLinks, false, `${metadata.name}: no variables made of Services`);
    t.ok(terminationGracePeriodSeconds > 15, `${metadata.name}: longer than shutdown and pause`);
    const [container] = containers;
    t.match(container, {
      readinessProbe: { httpGet: { path: '/readyz' } },
      livenessProbe: { httpGet: { path: '/livez' } },
    });
    t.ok(
      container!.ports.some(({ name }) => name === container!.readinessProbe.httpGet.port),
      `${metadata.name}: probes ask a port there is`,
    );
    t.match(container!.securityContext, { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    t.match(container!.volumeMounts, [{ mountPath: '/data' }]);
    t.ok(
      manifests.some(({ kind, metadata: { name } }) => kind === 'PodDisruptionBudget' && name === metadata.name),
      `${metadata.name}: has a disruption budget`,
    );
  }
  t.end();
});

t.test('only the gateway reaches pets and Redis, and what is labelled for it reads metrics', (t) => {
  const sources = (policy: string): unknown =>
    manifests
      .find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === policy)
      ?.spec.ingress?.map(({ from }) => from);
  t.strictSame(sources('petgate-pets'), [[{ podSelector: { matchLabels: { app: 'petgate-gateway' } } }]]);
  t.strictSame(sources('petgate-pets-metrics'), [[{ podSelector: { matchLabels: { 'petgate-admin': 'true' } } }]]);
  t.strictSame(sources('petgate-redis'), [[{ podSelector: { matchLabels: { app: 'petgate-gateway' } } }]]);
  t.equal(manifests.filter(({ kind }) => kind === 'NetworkPolicy').length, 4);
  t.end();
});

t.test('every variable it sets is one that the reference explains', (t) => {
  const settings = readFileSync(join(packageRoot, 'docs/reference/settings.md'), 'utf8');
  for (const { spec } of deployments) {
    for (const { name } of spec.template!.spec.containers.flatMap(({ env }) => env))
      t.ok(settings.includes(`\`${name}\``), name);
  }
  t.end();
});
