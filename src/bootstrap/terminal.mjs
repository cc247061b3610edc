/** Writes one line about a set-up problem to standard error. */
export const complain = (line) => process.stderr.write(`${line}\n`);
export const say = (line) => process.stdout.write(`${line}\n`);
export const seconds = (sinceMs) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

export class SetupFailure extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
