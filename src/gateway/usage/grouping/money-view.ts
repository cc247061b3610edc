/** The amounts in a row of a report. */
export interface MoneyView {
  readonly currency?: string | undefined;
  readonly base?: Figure | undefined;
  readonly included?: Figure | undefined;
  readonly overage?: Figure | undefined;
  readonly amount?: Figure | undefined;
  /** Why figures are unknown, if some are. */
  readonly unknown?: string | undefined;
}

/** Exact: a number, or digits if a number would be rounded. */
export type Figure = number | string;
