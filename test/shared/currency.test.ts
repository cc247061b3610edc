import t from 'tap';
import { inCurrency, isCurrency } from '../../src/shared/currency.js';

t.test('an amount has as many digits behind the point as its currency, digit by digit however large', (t) => {
  const rows = [
    [0, 'EUR', '0.00'],
    [5, 'EUR', '0.05'],
    [-5, 'EUR', '-0.05'],
    [123_456_789, 'EUR', '1,234,567.89'],
    [1000, 'JPY', '1,000'],
    [1000, 'KWD', '1.000'],
    [9_007_199_254_740_993n, 'USD', '90,071,992,547,409.93'],
    [-100_000, 'XAF', '-100,000'],
  ] as const;
  for (const [coins, currency, text] of rows) t.equal(inCurrency(coins, currency), text, text);
  t.end();
});

t.test('a code that names no currency is none', (t) => {
  for (const code of ['EUR', 'USD', 'JPY']) t.ok(isCurrency(code), code);
  for (const code of ['ERU', 'eur', 'EURO', '']) t.notOk(isCurrency(code), code);
  t.end();
});
