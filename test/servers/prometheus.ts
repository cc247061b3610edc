import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { freePort } from './free-port.js';
import { temporaryFolder, type Teardown } from './program.js';
import { startTool } from './tool.js';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Prometheus {
  /** What `expr` gives now; rejects with Prometheus' own words when it is wrong. */
  query(expr: string): Promise<readonly Sample[]>;
  /** All rules that are loaded, with how their last evaluation went. */
  rules(): Promise<
    readonly {
      readonly name: string;
      readonly health: string;
      readonly lastError?: string;
      readonly lastEvaluation: string;
    }[]
  >;
}

interface Config {
  global: Record<string, string>;
  rule_files: string[];
  scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
}

/** A real Prometheus on our own configuration, but with these targets by job, and in a hurry. Ends with the test. */
export async function startPrometheus(
  t: Teardown,
  targets: Readonly<Record<string, string>>,
  intervalMs: number,
): Promise<Prometheus> {
  const folder = temporaryFolder(t);
  const config = parse(readFileSync(join(packageRoot, 'grafana/prometheus.yaml'), 'utf8')) as Config;
  const interval = `${intervalMs}ms`;
  config.global = {
    ...config.global,
    scrape_interval: interval,
    scrape_timeout: interval,
    evaluation_interval: interval,
  };
  config.rule_files = config.rule_files.map((file) => join(packageRoot, 'grafana', file));
  for (const job of config.scrape_configs)
    job.static_configs = [{ targets: [new URL(targets[job.job_name] ?? '').host] }];
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config));

  const url = `http://127.0.0.1:${await freePort()}`;
  await startTool(
    t,
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${new URL(url).host}`,
      '--log.level=warn',
    ],
    async () => (await fetch(`${url}/-/ready`)).status === 200,
  );

  const ask = async (path: string): Promise<unknown> => {
    const answer = (await (await fetch(url + path)).json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(answer.error);
    return answer.data;
  };
  return {
    query: async (expr) => {
      const { result } = (await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)) as {
        result: { metric: Record<string, string>; value: [number, string] }[];
      };
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    rules: async () =>
      (
        (await ask('/api/v1/rules')) as { groups: { rules: Awaited<ReturnType<Prometheus['rules']>> }[] }
      ).groups.flatMap(({ rules }) => rules),
  };
}
