/** The figures of a bill. */
export const MONEY = ['base', 'included', 'overage', 'amount'] as const;

/** The amounts in a row of a report. */
export interface MoneyView extends Readonly<Partial<Record<(typeof MONEY)[number], Figure | undefined>>> {
  readonly currency?: string | undefined;
  /** Why figures are unknown: `no price of gold`. */
  readonly unknown?: string | undefined;
}

/** An exact amount: a number, or digits in a string above 2^53. */
export type Figure = number | string;
