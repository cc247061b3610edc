/** Decimal places of the currencies that do not have two (ISO 4217). */
const DIGITS: Readonly<Record<string, number>> = {
  ...of(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...of(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...of(4, 'CLF UYW'),
};

function of(digits: number, codes: string): Record<string, number> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, digits]));
}

const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Returns whether `code` is a currency code, such as EUR. */
export function isCurrency(code: string): boolean {
  return CODES.has(code);
}
const GROUPED = new Intl.NumberFormat('en-US');

/**
 * Formats an amount for people: 1205 of EUR is `12.05`.
 * @param coins amount in the smallest coin, a whole number
 */
export function inCurrency(coins: bigint | number | string, currency: string): string {
  const digits = DIGITS[currency] ?? 2;
  const text = String(coins);
  const isNegative = text.startsWith('-');
  const figures = (isNegative ? text.slice(1) : text).padStart(digits + 1, '0');
  const point = figures.length - digits;
  const whole = GROUPED.format(BigInt(figures.slice(0, point)));
  return `${isNegative ? '-' : ''}${whole}${digits === 0 ? '' : `.${figures.slice(point)}`}`;
}

/** Formats an amount with its currency: `12.05 EUR`. */
export function withCurrency(coins: bigint | number | string, currency: string): string {
  return `${inCurrency(coins, currency)} ${currency}`;
}
