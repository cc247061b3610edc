import t from 'tap';
import { makeAnswer } from './answers.js';
import { differenceOf, DIFFERENCES } from './differences.js';
import { cut, randomOf, read } from './read.js';
import { readByUndici } from './undici.js';

/** `PETGATE_TEST_ANSWERS=1000000 node dist/test/gateway/upstream/http1/differential.test.js` is the whole of it. */
const COUNT = Number(process.env['PETGATE_TEST_ANSWERS'] ?? 5000);
const SEED = Number(process.env['PETGATE_TEST_SEED'] ?? 1);
/** From so many answers on each difference that is known has been seen. */
const ENOUGH = 1_000_000;
/** Unknown differences that are shown. */
const SHOWN = 10;

t.test(`undici reads ${COUNT} answers as we do, but for what is known (seed ${SEED})`, async (t) => {
  t.setTimeout(0);
  const next = randomOf(SEED);
  const seen = new Map<string, number>();
  let unknown = 0;
  for (let n = 0; n < COUNT; n += 1) {
    const { method, bytes } = makeAnswer(next);
    const pieces = cut(bytes, Math.floor(next() * 6), next);
    const ours = read(pieces, method, true);
    const theirs = await readByUndici(pieces, method);
    const text = bytes.toString('latin1');
    const difference = differenceOf(text, ours, theirs);
    if (difference === undefined) {
      unknown += 1;
      if (unknown <= SHOWN)
        t.comment(JSON.stringify({ method, ours, theirs, pieces: pieces.map((piece) => piece.toString('latin1')) }));
    } else if (difference !== null) seen.set(difference.why, (seen.get(difference.why) ?? 0) + 1);
  }
  for (const [why, times] of seen) t.comment(`${times}: ${why}`);
  t.equal(unknown, 0, 'no difference that nobody can explain');
  if (COUNT >= ENOUGH)
    t.strictSame(
      DIFFERENCES.map(({ why }) => why).filter((why) => !seen.has(why)),
      [],
      'and each that is explained is there',
    );
});
