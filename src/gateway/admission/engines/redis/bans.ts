import type { BanNote, BanStore } from '../../port.js';
import { bansInForce, noteBan } from './ban-index.js';
import type { Link } from './link.js';
import { keyName } from './names.js';
import type { Replicas } from './replicas.js';
import { scriptOf } from './script.js';
import { readState, STATE_BYTES, STATE_FORMAT } from './state.js';

/** KEYS[1]: the key. ARGV: end of the ban, ms (0 lifts it), and its note or nothing. Answers `1` when a ban was in force before, else `0`. */
const SET_BAN = scriptOf(`
local name, untilMs = KEYS[1], tonumber(ARGV[2])
local found = call('HMGET', name, 'secrets', 'import', 'state')
local raw = found[3]
local m, mAt, d, dAt, strikes, since, banned = 0, 0, 0, 0, 0, 0, 0
if raw then m, mAt, d, dAt, strikes, since, banned = unpack('${STATE_FORMAT}', raw) end
if found[1] and not found[2] and (raw or untilMs > 0) then
  call('HSET', name, 'state', pack('${STATE_FORMAT}', m, mAt, d, dAt, 0, 0, untilMs, untilMs > 0 and 1 or 0), 'ban', untilMs > clock and ARGV[3] or '')
end
return pack('<d', clock) .. (banned > clock and '1' or '0')
`);

/** KEYS[1]: the key. Reads clock, state and note in one step; the clock alone when there is no state. */
const READ_BAN = scriptOf(`
local found = call('HMGET', KEYS[1], 'state', 'ban')
return pack('<d', clock) .. pack('<d', clock) .. (found[1] or '') .. (found[1] and found[2] or '')
`);

export function banStore(link: Link, replicas: Replicas): BanStore {
  const set = (keyId: string, untilMs: number, note: string): Promise<Buffer> => replicas.confirmed(keyName(keyId), () => link.run(SET_BAN, [keyName(keyId)], [untilMs.toString(), note]));
  return {
    async read(keyId) {
      const answer = await link.run(READ_BAN, [keyName(keyId)], []);
      const nowMs = answer.readDoubleLE(0);
      if (answer.length === 8) return undefined;
      const { bannedUntilMs, banLevel } = readState(answer, 8);
      const note = noteOf(answer.toString('utf8', 8 + STATE_BYTES), bannedUntilMs);
      return bannedUntilMs > nowMs ? { keyId, untilMs: bannedUntilMs, level: banLevel, note } : undefined;
    },
    async start(keyId, untilMs, note) {
      await set(keyId, untilMs, note === undefined ? '' : JSON.stringify({ untilMs, ...note }));
      await noteBan(link, 'key', keyId, untilMs);
    },
    async lift(keyId) {
      const answer = await set(keyId, 0, '');
      await noteBan(link, 'key', keyId, 0);
      return answer.toString() === '1';
    },
    inForce: () => bansInForce(link),
  };
}

/** The note that stands by the ban until `untilMs`. A later one that began by itself has none. */
function noteOf(text: string, untilMs: number): BanNote | null {
  if (text === '') return null;
  const { untilMs: ofBan, ...note } = JSON.parse(text) as BanNote & { readonly untilMs: number };
  return ofBan === untilMs ? note : null;
}
