/** `12,345`; digits, of a figure that a number would round, stay as they are. */
export function fullNumber(figure: number | string): string {
  return figure.toLocaleString('en-US');
}
