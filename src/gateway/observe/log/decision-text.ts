import type { StandingVerdict } from '../../admission/verdict.js';

/** A request that reads the windows of every operation may have thousands. */
const MAX_WINDOWS = 8;

const names = new Map<string, string>();

/** Returns JSON in ASCII: one wider character would double the cost of the whole line. */
export function nameText(name: string): string {
  let text = names.get(name);
  if (text === undefined) {
    text = JSON.stringify(name).replace(
      /[^\0-\x7f]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    // Grows only with the names in contract and plans.
    names.set(name, text);
  }
  return text;
}

/**
 * Returns what is needed to replay a decision: each window's limit, remaining and ms to its reset, with a grant also
 * the granted units and the ms they remain; the ban in force; and whether this gateway decided by itself.
 */
export function decisionText(verdict: StandingVerdict): string {
  const { windows, atMs } = verdict;
  let text = '"windows":{';
  const count = Math.min(windows.length, MAX_WINDOWS);
  for (let n = 0; n < count; n += 1) {
    const { name, limit, remaining, resetAtMs, granted } = windows[n]!;
    if (n > 0) text += ',';
    text += `${nameText(name)}:[${limit === 'unlimited' ? 'null,null' : `${limit},${remaining}`},${resetAtMs - atMs}`;
    text += granted === undefined ? ']' : `,${granted.units},${granted.untilMs - atMs}]`;
  }
  return `${text}},"ban":${banText(verdict)},"local":${verdict.local === true}`;
}

/** The same for a line without a decision. */
export const UNDECIDED = '"windows":null,"ban":null,"local":false';

function banText(verdict: StandingVerdict): string {
  if (verdict.outcome !== 'banned') return 'null';
  const { bannedUntilMs, level, started, atMs } = verdict;
  return `{"ms":${bannedUntilMs - atMs},"level":${level},"started":${started}}`;
}
