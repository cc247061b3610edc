/** Digits behind the point of currencies that have not two (ISO 4217). */
const DIGITS: Readonly<Record<string, number>> = {
  ...of(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...of(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...of(4, 'CLF UYW'),
};

function of(digits: number, codes: string): Record<string, number> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, digits]));
}

const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Whether it is the code of a currency, such as EUR. */
export function isCurrency(code: string): boolean {
  return CODES.has(code);
}
const GROUPED = new Intl.NumberFormat('en-US');

/** An amount as people read it: 1205 of EUR is `12.05`. @param coins of the smallest coin, a whole number */
export function inCurrency(coins: bigint | number | string, currency: string): string {
  const digits = DIGITS[currency] ?? 2;
  const text = String(coins);
  const isNegative = text.startsWith('-');
  const figures = (isNegative ? text.slice(1) : text).padStart(digits + 1, '0');
  const point = figures.length - digits;
  const whole = GROUPED.format(BigInt(figures.slice(0, point)));
  return `${isNegative ? '-' : ''}${whole}${digits === 0 ? '' : `.${figures.slice(point)}`}`;
}

/** The same with the currency behind it: `12.05 EUR`. */
export function withCurrency(coins: bigint | number | string, currency: string): string {
  return `${inCurrency(coins, currency)} ${currency}`;
}
