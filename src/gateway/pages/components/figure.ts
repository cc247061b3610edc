/** `12,345`. A string, for a figure that a number would round, is returned as it is. */
export function fullNumber(figure: number | string): string {
  return figure.toLocaleString('en-US');
}
