import { CODE } from './codes.js';

/** In place of a limit where a key has none of its own. */
export const NO_LIMIT_OF_ITS_OWN = -2;

/**
 * Status (0: good, else the code of the answer), version of the record it is of, end, own minute and day limit, plan;
 * its scopes follow, which end with a space or `*`. After them, where the key has one, a zero and its month limit;
 * and where it has some, a zero and its grants, which end with `+` (grants.ts).
 */
const FORMAT = '<BI4di4i4s';

/**
 * Lua: reads what an admission needs of the key `name` into `raw` (state), `secrets`, `status`, `version`,
 * `expires`, `minuteLimit`, `dayLimit`, `plan`, and its scopes in `summary` from `scopesAt`.
 *
 * The field `summary` is what the script itself remembers of the record in a form that is read at once: four
 * fields instead of ten, and no text to parse. It holds for the version of the record that it names and no
 * other; whoever writes records need not know of it, a gateway of an earlier version for one. The first
 * admission after a change makes it anew. With one secret and a few scopes no field is longer than 64 bytes,
 * so that Redis keeps the hash in its compact form (a listpack).
 */
export const SUMMARY = `
    local found = call('HMGET', name, 'version', 'secrets', 'summary', 'state')
    secrets, summary, raw = found[2], found[3], found[4]
    if not found[1] or not secrets then
      status = ${CODE.unknown}
    else
      local stored = tonumber(found[1])
      if summary then status, version, expires, minuteLimit, dayLimit, plan, scopesAt = unpack('${FORMAT}', summary) end
      if version ~= stored then
        local record = call('HMGET', name, 'plan', 'status', 'expires', 'scopes', 'minute', 'day', 'month', 'more')
        version, plan, status = stored, record[1], 0
        if record[2] == 'disabled' then status = ${CODE.disabled} elseif record[2] == 'revoked' then status = ${CODE.revoked} end
        expires = tonumber(record[3]) or ${Number.MAX_SAFE_INTEGER}
        minuteLimit = record[5] == 'unlimited' and -1 or tonumber(record[5]) or ${NO_LIMIT_OF_ITS_OWN}
        dayLimit = record[6] == 'unlimited' and -1 or tonumber(record[6]) or ${NO_LIMIT_OF_ITS_OWN}
        summary = pack('${FORMAT}', status, version, expires, minuteLimit, dayLimit, plan)
        scopesAt = #summary + 1
        summary, hasNewSummary = summary .. record[4], true
        if record[7] == 'unlimited' then summary = summary .. '\\0-1' elseif record[7] and record[7] ~= '' then summary = summary .. '\\0' .. record[7] end
        if record[8] and record[8] ~= '' then summary = summary .. '\\0' .. record[8] end
      end
    end`;

/** Lua: the month limit of a key of its own from `own` (grants.ts), or that of its customer, into `ownMonth` and `monthLimit`; nil where there is none. */
export const OWN_MONTH = `
    if customer then ownMonth = customer.month elseif own and string.byte(own, -1) >= 48 then ownMonth = tonumber(string.match(own, '%z(%-?%d+)$')) end
    monthLimit = ownMonth`;
