/** The amounts in a row of a report. */
export interface MoneyView {
  readonly currency?: string | undefined;
  readonly base?: Figure | undefined;
  readonly included?: Figure | undefined;
  readonly overage?: Figure | undefined;
  readonly amount?: Figure | undefined;
  /** Why figures are unknown: `no price of gold`. */
  readonly unknown?: string | undefined;
}

/** An exact amount: a number, or digits in a string above 2^53. */
export type Figure = number | string;
