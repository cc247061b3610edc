-- `npm run lint` runs luacheck over the scripts of Redis. What they may name beside Lua's own: what Redis gives, what
-- every script begins with (scripts/include/prelude.lua), and what is put in when they are loaded (link/script.ts).
std = 'lua51'
max_line_length = 120
read_globals = {
  'redis', 'struct', 'KEYS', 'ARGV',
  'call', 'clock', 'floor', 'max', 'min', 'pack', 'spread',
  'include', 'DAY_MS', 'MAX_LIMIT', 'STATE_FORMAT', 'STATE_MARK', 'MAX_DAYS', 'FOUND_AT_ONCE', 'SETTLE_MS',
  'ARRIVALS_AT_ONCE', 'STATE_BYTES', 'MAX_ROWS', 'SHARED_ROW', 'ARCHIVED_CHUNK', 'LEASE_MS', 'MAX_BALANCE',
}
files['**/admission.lua'].read_globals = {
  'ADMITTED', 'CLOSED', 'LIMITED', 'CROWDED', 'BANNED', 'BAN_STARTED', 'UNKNOWN', 'DISABLED', 'EXPIRED', 'REVOKED', 'NO_PLAN',
  'OWN_LIMITS_FLAG', 'GRANTS_FLAG', 'NOTED_FLAG', 'OUT_OF_SCOPE_FLAG', 'NO_LIMIT', 'HEAD_FORMAT',
  'GRANTS_END', 'MINUTE_MS', 'BAN_MEMORY_MS', 'GRACE_MS', 'ANONYMOUS', 'NEVER', 'EMITS',
  'LEDGER_SECONDS',
}
-- It makes the names that the others begin with.
files['**/prelude.lua'].ignore = { '211', '411' }
