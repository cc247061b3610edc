import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { spreadOf } from './figures.js';

/**
 * CPU µs per admission of the embedded engine alone, beside a plain get and put of lmdb. Several builds are
 * measured in turns, so that what else the machine does hits all of them:
 *
 * node dist/test/bench/engine.js [--rounds 7] [--keys 10,1000,100000] [--batches 1,16,64] [--engine <module>]…
 *
 * `--engine` is the engine's module of another build (its `openEmbeddedEngine`).
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    keys: { type: 'string', default: '10,1000,100000' },
    batches: { type: 'string', default: '1,16,64' },
    engine: { type: 'string', multiple: true, default: [] },
  },
});
const WARM_UP = 3;
const OWN = new URL('../../src/gateway/store/embedded/engine.js', import.meta.url).href;

/**
 * What a subject measured, µs of CPU per admission: in the call alone, and with what is done beside it, such as
 * checkpoints.
 */
export interface Sample {
  readonly callUs: number;
  readonly allUs: number;
}

/** A subject's own process: only its own code is compiled there. */
class Subject {
  readonly name: string;
  readonly samples: Sample[] = [];
  readonly #child: ChildProcess;

  constructor(module: string, keys: number) {
    this.name = module;
    this.#child = fork(fileURLToPath(new URL('engine-subject.js', import.meta.url)), [module, String(keys)]);
  }

  async measure(batch: number): Promise<Sample> {
    this.#child.send(batch);
    const [sample] = (await once(this.#child, 'message')) as [Sample];
    return sample;
  }

  async end(): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }
}

async function compare(keys: number, batches: readonly number[]): Promise<void> {
  const subjects = ['lmdb', OWN, ...values.engine].map((module) => new Subject(module, keys));
  for (const batch of batches) {
    // The compiler has work at first, and caches fill.
    for (let time = 0; time < WARM_UP; time += 1) for (const subject of subjects) await subject.measure(batch);
    const samples = subjects.map((): Sample[] => []);
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const [place, subject] of subjects.entries()) samples[place]!.push(await subject.measure(batch));
    }
    for (const [place, { name }] of subjects.entries()) {
      const us = (value: number): string => value.toFixed(2).padStart(7);
      const callUs = spreadOf(samples[place]!.map((sample) => sample.callUs)).median;
      // What is done now and then counts as well: a median would leave it out.
      const allUs = samples[place]!.reduce((sum, sample) => sum + sample.allUs, 0) / samples[place]!.length;
      process.stdout.write(
        `${String(keys).padStart(7)} keys, batches of ${String(batch).padStart(2)}: call ${us(callUs)}, all ` +
          `${us(allUs)}  ${name}\n`,
      );
    }
  }
  for (const subject of subjects) await subject.end();
}

const numbers = (text: string): readonly number[] => text.split(',').map(Number);
for (const keys of numbers(values.keys)) await compare(keys, numbers(values.batches));
