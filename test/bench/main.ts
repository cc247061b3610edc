import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, textOf as comparisonText } from './against.js';
import { machineOf } from './machine.js';
import { readOptions, USE, type Options } from './options.js';
import { plotOf } from './plot.js';
import { barReports, caseReports, textOf, type ScenarioReport } from './report.js';
import { runRounds } from './rounds.js';
import type { Scenario } from './scenarios.js';
import { Fleet } from './subjects/fleet.js';
import { Keys } from './subjects/keys.js';

/**
 * `npm run bench`: CPU per request of Petgate and of what else one would take, one upstream behind all,
 * in turns in one run. CPU time and not wall time, because other programs on the machine change the
 * second far more than the first. docs/guides/speed.md tells the method.
 */
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function runScenario(
  scenario: Scenario,
  { subjects, rounds, seconds, load }: Options,
  folder: string,
): Promise<ScenarioReport> {
  const wanted = new Set(scenario.cases.map(({ subject }) => subject).filter((subject) => subjects.has(subject)));
  const fleet = await Fleet.start(wanted, scenario, join(folder, scenario.name));
  try {
    const { samples, rate, longestTurnsMs } = await runRounds(scenario, fleet, new Keys(), {
      rounds,
      seconds,
      folder,
      load,
      say,
    });
    const { name, title } = scenario;
    return {
      name,
      title,
      rounds,
      seconds,
      ...(rate === undefined ? {} : { rate }),
      cases: caseReports(scenario, samples),
      bars: barReports(scenario, samples),
      leftOut: fleet.leftOut,
      longestTurnsMs,
    };
  } finally {
    await fleet.stop();
  }
}

async function bench(options: Options, folder: string): Promise<void> {
  const machine = machineOf();
  say(`Petgate ${machine.commit}, Node ${machine.node}, ${machine.processors}, TCP ${machine.congestion}`);
  const { against } = options;
  if (against !== undefined) {
    for (const scenario of options.scenarios)
      for (const one of await compare(scenario, { ...options, against, folder, say }))
        process.stdout.write(`${scenario.name}, ${comparisonText(one)}\n`);
    return;
  }
  const scenarios: ScenarioReport[] = [];
  for (const scenario of options.scenarios) {
    try {
      const report = await runScenario(scenario, options, folder);
      scenarios.push(report);
      process.stdout.write(`${textOf(report)}\n`);
      // Each time anew: a run that is ended early keeps what it has.
      if (options.json !== undefined)
        writeFileSync(options.json, `${JSON.stringify({ ...machine, scenarios }, null, 2)}\n`);
      if (options.svg !== undefined && scenario.name === 'list') writeFileSync(options.svg, plotOf(report, machine));
    } catch (error) {
      process.exitCode = 1;
      say(`${scenario.name} could not be measured: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'petgate-bench-'));
// So that those who end the servers at the exit of this process get to it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  await bench(readOptions(process.argv.slice(2)), folder);
} catch (error) {
  say(`${error instanceof Error ? error.message : String(error)}\n${USE}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
