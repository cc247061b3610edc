/** A key, and what its holder saw. */
export interface Holder {
  readonly id: string;
  key: string;
  admitted: number;
  unknown: number;
  /** 5xx among the admitted. */
  failed: number;
  /** Of the admitted, those that Redis may lose: answered while its replica heard nothing. */
  atRisk: number;
  /** What the ledger had when counting began. */
  before: number;
  /** Rotations since the last whose response was heard. */
  unheard: number;
  /** As acknowledged last; null while nobody knows whether a change of it holds. */
  plan: string | null;
}
