import { randomBytes } from 'node:crypto';
import t from 'tap';
import { IDLE_MS, isOwnForm, SESSION_MS, Sessions, type Purpose } from '../../../src/gateway/pages/session.js';
import { decrypt, encrypt, MAX_SEALED } from '../../../src/gateway/pages/cipher.js';

const NOON_MS = Date.parse('2026-11-21T12:00:00Z');
const SECRET = randomBytes(32);
const DATA = { key: 'abcdefghijkl', hash: 'h'.repeat(43) };

function sessions(purpose: Purpose = 'account', secret = SECRET): Sessions {
  const ended = new Set<string>();
  return new Sessions(purpose, {
    read: () => Promise.resolve(secret),
    end: (id) => Promise.resolve(void ended.add(id)),
    hasEnded: (id) => Promise.resolve(ended.has(id)),
  });
}

t.test('what a session is about comes back, and its cookie shows nothing of it', async (t) => {
  const cookie = await sessions().begin(DATA, NOON_MS);
  t.match(cookie, /^v1\.[\w-]+$/);
  t.notMatch(Buffer.from(cookie.slice(3), 'base64url').toString('latin1'), /abcdefgh|hhhh/);
  t.not(cookie, await sessions().begin(DATA, NOON_MS));
  const resumed = await sessions().resume(cookie, NOON_MS + 1);
  t.same(resumed?.data, DATA);
  t.equal(resumed?.renewed(), null);
});

t.test('of several cookies the one that opens a session counts; of two sessions none does', async (t) => {
  const own = sessions();
  const cookie = await own.begin(DATA, NOON_MS);
  for (const cookies of [[cookie], ['x', cookie], [cookie, 'v1.planted', ''], [cookie, cookie]])
    t.same((await own.resumeOnly(cookies, NOON_MS))?.data, DATA, String(cookies.length));
  t.equal(await own.resumeOnly([], NOON_MS), null);
  t.equal(await own.resumeOnly(['x', 'y'], NOON_MS), null);
  t.equal(await own.resumeOnly([cookie, await own.begin(DATA, NOON_MS)], NOON_MS), null, 'one is somebody else');
});

t.test('another purpose, another secret and any changed character make it nobody', async (t) => {
  const cookie = await sessions().begin(DATA, NOON_MS);
  t.equal(await sessions('console').resume(cookie, NOON_MS), null);
  t.equal(await sessions('account', randomBytes(32)).resume(cookie, NOON_MS), null);
  for (let at = 0; at < cookie.length; at += 1) {
    const other = cookie[at] === 'A' ? 'B' : 'A';
    const changed = cookie.slice(0, at) + other + cookie.slice(at + 1);
    t.equal(await sessions().resume(changed, NOON_MS), null, `changed at ${at}`);
  }
  for (const odd of [
    '',
    'v1.',
    `${cookie}A`,
    cookie.slice(0, 40),
    `v1.${'A'.repeat(MAX_SEALED)}`,
    `v2${cookie.slice(2)}`,
  ])
    t.equal(await sessions().resume(odd, NOON_MS), null, odd);
});

t.test('a session ends after 30 minutes without use, and after 12 hours of use', async (t) => {
  const own = sessions();
  let cookie = await own.begin(DATA, NOON_MS);
  t.not(await own.resume(cookie, NOON_MS + IDLE_MS - 1), null);
  t.equal(await own.resume(cookie, NOON_MS + IDLE_MS), null);
  t.equal(await own.resume(cookie, NOON_MS - 61_000), null, 'nobody was there so long before it was used');
  const step = IDLE_MS / 2;
  for (let ageMs = step; ageMs < SESSION_MS; ageMs += step) {
    const resumed = await own.resume(cookie, NOON_MS + ageMs);
    t.type(resumed?.renewed(), 'string');
    cookie = resumed!.renewed()!;
  }
  t.equal(await own.resume(cookie, NOON_MS + SESSION_MS), null);
});

t.test('use is noted once a minute, and no more often', async (t) => {
  const cookie = await sessions().begin(DATA, NOON_MS);
  t.equal((await sessions().resume(cookie, NOON_MS + 59_999))?.renewed(), null);
  t.type((await sessions().resume(cookie, NOON_MS + 60_000))?.renewed(), 'string');
});

t.test('a form is of one session, also after it was renewed', async (t) => {
  const own = sessions();
  const cookie = await own.begin(DATA, NOON_MS);
  const session = (await own.resume(cookie, NOON_MS + 60_000))!;
  const renewed = (await own.resume(session.renewed()!, NOON_MS + 60_001))!;
  const another = (await own.resume(await own.begin(DATA, NOON_MS), NOON_MS))!;
  t.ok(isOwnForm(session, renewed.formToken));
  for (const foreign of [another.formToken, '', null, `${session.formToken}x`]) t.notOk(isOwnForm(session, foreign));
});

t.test('what is too long for a cookie is a fault, not a broken cookie', (t) => {
  t.throws(() => encrypt('account', 'x'.repeat(MAX_SEALED), SECRET), RangeError);
  t.equal(decrypt('account', encrypt('account', 'x'.repeat(700), SECRET), SECRET), 'x'.repeat(700));
  t.equal(decrypt('account', encrypt('account', '', SECRET), SECRET), '');
  t.end();
});

t.test('a session that was ended opens no more, renewed or not; others stay', async (t) => {
  const own = sessions();
  const [cookie, other] = [await own.begin(DATA, NOON_MS), await own.begin(DATA, NOON_MS)];
  const session = (await own.resume(cookie, NOON_MS + 60_000))!;
  await own.end(session);
  for (const copy of [cookie, session.renewed()!]) t.equal(await own.resume(copy, NOON_MS + 60_001), null);
  t.not(await own.resume(other, NOON_MS + 60_001), null);
});
