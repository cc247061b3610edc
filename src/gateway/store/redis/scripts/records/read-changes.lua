-- KEYS[1]: the log. ARGV: since when, store ms; about how many. Returns `1` or `0` (whether there may be more), the
-- time up to which it was read, and IDs. A page includes all entries of its last millisecond, because the next page
-- begins after it; Redis can write only a few in that time.
local found = call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local ids, more, untilMs = {}, #found == 2 * ARGV[3], string.format('%.0f', clock)
if more then untilMs = found[#found] end
for n = 1, #found, 2 do
  if not more or found[n + 1] ~= untilMs then ids[#ids + 1] = found[n] end
end
if more then
  for _, id in ipairs(call('ZRANGEBYSCORE', KEYS[1], untilMs, untilMs)) do ids[#ids + 1] = id end
end
return (more and '1 ' or '0 ') .. untilMs .. ' ' .. table.concat(ids, ' ')
