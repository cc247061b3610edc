import type { AuditEntry } from '../../records/key.js';
import type { Link } from '../link/link.js';
import { historyName } from '../names.js';
import { scriptOf } from '../link/script.js';

/**
 * KEYS: a key or a customer, and its history. ARGV: version to be replaced, number of audit entries, the entries, then
 * fields and values of the record. Answers `1`, or `0` when the stored version is another.
 */
const REWRITE = scriptOf(`
local there, last = call('HMGET', KEYS[1], 'version', 'import'), 3 + ARGV[3]
if there[2] or there[1] ~= ARGV[2] then return pack('<d', clock) .. '0' end
call('DEL', KEYS[2])
for n = 4, last do call('RPUSH', KEYS[2], ARGV[n]) end
call('HSET', KEYS[1], spread(ARGV, last + 1))
call('HDEL', KEYS[1], 'ban')
return pack('<d', clock) .. '1'
`);

/** Replaces the record of the version before, all of its history, and what an operator said of a ban; false when another version is there. */
export async function rewrite(
  link: Link,
  names: readonly [its: string, history: string],
  version: number,
  fields: readonly string[],
  history: readonly AuditEntry[],
): Promise<boolean> {
  const entries = history.map((entry) => JSON.stringify(entry));
  const args = [(version - 1).toString(), entries.length.toString(), ...entries, ...fields];
  return (await link.run(REWRITE, names, args)).toString() === '1';
}

/** Of a key or a customer, in the order in which it happened. */
export async function readHistory(link: Link, id: string): Promise<readonly AuditEntry[]> {
  const entries = (await link.command('lrange', historyName(id), '0', '-1')) as Buffer[];
  return entries.map((entry) => JSON.parse(entry.toString()) as AuditEntry);
}
