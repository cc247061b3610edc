/**
 * Returns a copy of a Latin-1 text. V8 may have made the original a slice of a longer text, which it keeps in memory.
 */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
