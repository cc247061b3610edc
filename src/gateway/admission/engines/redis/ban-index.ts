import type { AdmissionRequest, BansInForce, Subject } from '../../port.js';
import type { Verdict } from '../../verdict.js';
import type { Link } from './link.js';
import { scriptOf } from './script.js';

/** Names of the sorted sets of who is banned, each with the end of the ban, ms. */
const INDEX: Readonly<Record<Subject['kind'], string>> = { key: 'petgate:bans:key', address: 'petgate:bans:address' };

/** KEYS[1]: the index. ARGV: who, and the end of the ban; 0 takes it out. */
const NOTE = scriptOf(`
local name, untilMs = KEYS[1], tonumber(ARGV[3])
call('ZREMRANGEBYSCORE', name, '-inf', clock)
if untilMs > clock then
  call('ZADD', name, untilMs, ARGV[2])
  if call('PTTL', name) < untilMs - clock then call('PEXPIRE', name, untilMs - clock) end
else
  call('ZREM', name, ARGV[2])
end
return pack('<d', clock) .. '1'
`);

const COUNT = scriptOf(`
return pack('<d', clock) .. call('ZCOUNT', KEYS[1], '(' .. clock, '+inf')
`);

/** Who is banned stands with each subject; this index beside it, in a step of its own, is there to be counted. */
export async function noteBan(link: Link, kind: Subject['kind'], who: string, untilMs: number): Promise<void> {
  await link.run(NOTE, [INDEX[kind]], [who, untilMs.toString()]);
}

/** Notes the bans that began with these verdicts. Nobody waits for it: an index that misses one is better than a late answer. */
export function noteStarted(link: Link, requests: readonly AdmissionRequest[], verdicts: readonly Verdict[]): void {
  for (const [place, verdict] of verdicts.entries()) {
    if (verdict.outcome !== 'banned' || !verdict.started) continue;
    const { subject } = requests[place]!;
    noteBan(link, subject.kind, subject.kind === 'key' ? subject.id : subject.address, verdict.bannedUntilMs).catch(() => undefined);
  }
}

export async function bansInForce(link: Link): Promise<BansInForce> {
  const count = async (kind: Subject['kind']): Promise<number> => Number((await link.run(COUNT, [INDEX[kind]], [])).toString());
  const [keys, addresses] = await Promise.all([count('key'), count('address')]);
  return { keys, addresses };
}
