/** Made once: that costs more than writing a number. */
const WHOLE = new Intl.NumberFormat('en-US');

/** `12,345`. A string, for a figure that a number would round, is returned as it is. */
export function fullNumber(figure: number | string): string {
  return typeof figure === 'string' ? figure : WHOLE.format(figure);
}

/** Returns `corrected units` for `correctedUnits`. */
export function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
