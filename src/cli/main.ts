#!/usr/bin/env node
import { CommanderError } from 'commander';
import { CommandError } from './terminal/command-error.js';
import { asTooFew } from './open-files.js';
import { endWithReader, styled } from './terminal/output.js';
import { createProgram } from './program.js';

/** Errors whose message needs no stack. By name, so that their modules need not be loaded. */
const EXPLAINED = ['InvalidSecret', 'ConfigError', 'StartFailure', 'StoreUnavailable'];

/** Prints what a command threw to standard error; returns the exit code. */
function report(thrown: unknown): number {
  const error = asTooFew(thrown) ?? thrown;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const complain = (message: string): void =>
    void process.stderr.write(`${styled('red', 'error:', process.stderr)} ${message}\n`);
  if (error instanceof CommandError) {
    complain(error.message);
    return error.exitCode;
  }
  if (error instanceof Error && EXPLAINED.includes(error.name)) complain(error.message);
  else complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

process.stdout.on('error', endWithReader);

try {
  const words = process.argv.slice(2);
  await (await createProgram(words)).parseAsync(words, { from: 'user' });
} catch (error) {
  process.exitCode = report(error);
}
