import type { BanNote, BanStore } from '../../port.js';
import { bansInForce, noteBan } from './ban-index.js';
import type { Link } from './link.js';
import { keyPrefix } from './names.js';
import { scriptOf } from './script.js';
import { readState, STATE_BYTES, STATE_FORMAT } from './state.js';

const TTL_MS = 2 * 86_400_000;

/** KEYS[1]: the key's prefix. ARGV: end of the ban, ms (0 lifts it), and its note or nothing. Answers `1` when a ban was in force before, else `0`. */
const SET_BAN = scriptOf(`
local name, untilMs = KEYS[1] .. 'state', tonumber(ARGV[2])
local raw = call('GET', name)
local m, mAt, d, dAt, strikes, since, banned = 0, 0, 0, 0, 0, 0, 0
if raw then m, mAt, d, dAt, strikes, since, banned = unpack('${STATE_FORMAT}', raw) end
local ttl = ${TTL_MS}
if untilMs > clock then ttl = ttl + untilMs - clock end
local left = call('PTTL', name)
if left > ttl then ttl = left end
if raw or untilMs > 0 then
  call('SET', name, pack('${STATE_FORMAT}', m, mAt, d, dAt, 0, 0, untilMs, untilMs > 0 and 1 or 0), 'PX', ttl)
end
if untilMs > clock and ARGV[3] ~= '' then
  call('SET', KEYS[1] .. 'ban', ARGV[3], 'PX', untilMs - clock)
else
  call('DEL', KEYS[1] .. 'ban')
end
return pack('<d', clock) .. (banned > clock and '1' or '0')
`);

/** Reads clock, state and note in one step; the clock alone when there is no state. */
const READ_BAN = scriptOf(`
local state = call('GET', KEYS[1] .. 'state')
if not state then return pack('<d', clock) .. pack('<d', clock) end
return pack('<d', clock) .. pack('<d', clock) .. state .. (call('GET', KEYS[1] .. 'ban') or '')
`);

export function banStore(link: Link): BanStore {
  return {
    async read(keyId) {
      const answer = await link.run(READ_BAN, [keyPrefix(keyId)], []);
      const nowMs = answer.readDoubleLE(0);
      if (answer.length === 8) return undefined;
      const { bannedUntilMs, banLevel } = readState(answer, 8);
      const note = noteOf(answer.toString('utf8', 8 + STATE_BYTES), bannedUntilMs);
      return bannedUntilMs > nowMs ? { keyId, untilMs: bannedUntilMs, level: banLevel, note } : undefined;
    },
    async start(keyId, untilMs, note) {
      await link.run(SET_BAN, [keyPrefix(keyId)], [untilMs.toString(), note === undefined ? '' : JSON.stringify({ untilMs, ...note })]);
      await noteBan(link, 'key', keyId, untilMs);
    },
    async lift(keyId) {
      const answer = await link.run(SET_BAN, [keyPrefix(keyId)], ['0', '']);
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
