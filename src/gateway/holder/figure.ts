/** `12,345` */
export function fullNumber(figure: number): string {
  return figure.toLocaleString('en-US');
}
