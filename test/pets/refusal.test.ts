import t from 'tap';
import { rawAnswer, Refusal, shown } from '../../src/pets/refusal.js';

t.test('the body has code, message and status', (t) => {
  t.same(JSON.parse(new Refusal('pet_not_found', 'No "such" pet.').body), {
    code: 'pet_not_found',
    message: 'No "such" pet.',
    status: 404,
  });
  t.end();
});

t.test('what the caller sent is shown short and harmless', (t) => {
  t.equal(shown('offset'), '"offset"');
  t.equal(shown('a"\\\n\u202eé\ud83d'), '"a??????"');
  t.equal(shown('x'.repeat(1_000)), `"${'x'.repeat(40)}..."`);
  t.end();
});

t.test('a raw answer counts its bytes', (t) => {
  const [head = '', body = ''] = rawAnswer(new Refusal('malformed_request', 'é')).split('\r\n\r\n');
  t.match(head, /^HTTP\/1\.1 400 Bad Request\r\n/);
  t.match(head, new RegExp(`Content-Length: ${Buffer.byteLength(body)}\r\n`));
  t.end();
});
