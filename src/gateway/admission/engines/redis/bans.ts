import type { BanStore } from '../../port.js';
import type { Link } from './link.js';
import { keyPrefix } from './names.js';
import { scriptOf } from './script.js';
import { readState, STATE_FORMAT } from './state.js';

const TTL_MS = 2 * 86_400_000;

/** KEYS[1]: the key's prefix. ARGV[2]: end of the ban, ms; 0 lifts it. Answers `1` when a ban was in force before, else `0`. */
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
return pack('<d', clock) .. (banned > clock and '1' or '0')
`);

/** Reads the state and the clock in one step. */
const READ_BAN = scriptOf(`
return pack('<d', clock) .. pack('<d', clock) .. (call('GET', KEYS[1] .. 'state') or '')
`);

export function banStore(link: Link): BanStore {
  return {
    async read(keyId) {
      const answer = await link.run(READ_BAN, [keyPrefix(keyId)], []);
      const nowMs = answer.readDoubleLE(0);
      if (answer.length === 8) return undefined;
      const { bannedUntilMs, banLevel } = readState(answer, 8);
      return bannedUntilMs > nowMs ? { keyId, untilMs: bannedUntilMs, level: banLevel } : undefined;
    },
    async start(keyId, untilMs) {
      await link.run(SET_BAN, [keyPrefix(keyId)], [untilMs.toString()]);
    },
    async lift(keyId) {
      const answer = await link.run(SET_BAN, [keyPrefix(keyId)], ['0']);
      return answer.toString() === '1';
    },
  };
}
