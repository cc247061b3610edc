import { CommandError } from '../command-error.js';

/** Throws CommandError where requests were on plans that the file lacks. @param missing with how many they were */
export function checkPlans(missing: Readonly<Record<string, number>>, file: string): void {
  const lacks = Object.entries(missing).map(([plan, requests]) => `${plan} (${requests} requests)`);
  if (lacks.length === 0) return;
  throw new CommandError(
    `${file} lacks plans that requests were on, or limits for them: ${lacks.join(', ')}. Add them ` +
      '(retired: true keeps a plan for who has it), then try again.',
  );
}
