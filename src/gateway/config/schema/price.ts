import { isCurrency } from '../../../shared/currency.js';
import { mapping, text, whole } from './values.js';

/** More is a mistake: 10^12 of the currency's smallest coin, or units. */
const MAX = 1_000_000_000_000;
const COINS = ", of the currency's smallest coin; a unit that costs less than one is billed by what takes usage push";

const CURRENCY = 'must be a currency by its code of ISO 4217, such as EUR';

/** What a plan costs; admission does not use it. */
export const price = mapping({
  monthly: whole(0, MAX, COINS.split(';')[0])
    .prefault(0)
    .describe("Owed for a UTC month, in the currency's smallest coin: 4900 is 49.00 EUR."),
  included: whole(0, MAX).prefault(0).describe('Units of a month that `monthly` pays.'),
  per_unit: whole(0, MAX, COINS).prefault(0).describe("Owed for each unit beyond, in the currency's smallest coin."),
  currency: text(CURRENCY, /^[A-Z]{3}$/)
    .refine(isCurrency, CURRENCY)
    .describe('ISO 4217, such as EUR.'),
})
  .describe('What it costs, for reports of amounts. It limits nothing.')
  .transform(({ per_unit: perUnit, ...rest }) => ({ ...rest, perUnit }));
