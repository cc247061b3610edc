import type { Link } from './link.js';
import { GATEWAYS } from './names.js';
import { scriptOf } from './script.js';

/** A gateway that was silent for so long is gone. */
const SILENT_MS = 15_000;

/** KEYS[1]: the set of gateways. ARGV: id of one, how long it may be silent, `1` to stay and `0` to leave. Answers how many there are. */
const BEAT = scriptOf(`
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', clock - ARGV[3])
if ARGV[4] == '1' then call('ZADD', KEYS[1], clock, ARGV[2]) else call('ZREM', KEYS[1], ARGV[2]) end
call('PEXPIRE', KEYS[1], ARGV[3])
return pack('<d', clock) .. string.format('%.0f', call('ZCOUNT', KEYS[1], '-inf', '+inf'))
`);

/** Says that the gateway is there (or leaves), and gives how many are. */
export async function beat(link: Link, gatewayId: string, isLeaving: boolean): Promise<number> {
  return Number((await link.run(BEAT, [GATEWAYS], [gatewayId, SILENT_MS.toString(), isLeaving ? '0' : '1'])).toString());
}
