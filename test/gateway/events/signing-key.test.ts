import t from 'tap';
import { signingKey } from '../../../src/gateway/events/signing-key.js';

t.test('secrets are as Standard Webhooks writes them', (t) => {
  const encoded = Buffer.alloc(32, 'k').toString('base64');
  t.equal(signingKey(`whsec_${encoded}`)?.length, 32);
  for (const wrong of ['', 'whsec_', encoded, 'whsec_???', 'whsec_c2hvcnQ=', `whsec_${'A'.repeat(120)}`])
    t.equal(signingKey(wrong), undefined);
  t.end();
});
