import { CommandError } from '../command-error.js';

/** Throws CommandError if the file lacks plans that requests were on. @param missing number of requests by plan */
export function checkPlans(missing: Readonly<Record<string, number>>, file: string): void {
  const lacks = Object.entries(missing).map(([plan, requests]) => `${plan} (${requests} requests)`);
  if (lacks.length === 0) return;
  throw new CommandError(
    `${file} lacks plans that requests were on, or limits for them: ${lacks.join(', ')}. Add them ` +
      '(retired: true keeps a plan for those who have it), then try again.',
  );
}
