import type { StandingVerdict } from '../admission/verdict.js';

/** Of one that only looks at the windows of every operation there may be thousands. */
const MAX_WINDOWS = 8;

const names = new Map<string, string>();

/** As JSON, and in ASCII: one wider character would make the whole line cost twice as much. */
export function nameText(name: string): string {
  let text = names.get(name);
  if (text === undefined) {
    text = JSON.stringify(name).replace(
      /[^\0-\x7f]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    // A contract's operations may have any name, and plans name their windows by them: there are as many as they have.
    names.set(name, text);
  }
  return text;
}

/**
 * What of a decision is needed to decide it again: of each window limit, remaining and ms until it is whole, and where
 * some of the limit is granted, how much and for how long yet; the ban in force; and whether it was this gateway's own.
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

/** Of a line without a decision. */
export const UNDECIDED = '"windows":null,"ban":null,"local":false';

function banText(verdict: StandingVerdict): string {
  if (verdict.outcome !== 'banned') return 'null';
  const { bannedUntilMs, level, started, atMs } = verdict;
  return `{"ms":${bannedUntilMs - atMs},"level":${level},"started":${started}}`;
}
