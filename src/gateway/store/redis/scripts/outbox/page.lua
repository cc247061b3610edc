-- KEYS[1]: a sorted set. ARGV: score and ID of the previous page's last entry, how many, and which state. Returns the
-- next entries by score and ID. Waiting and scheduled events share a set.
local score, last, count, most = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), 1 / 0
if ARGV[5] == 'waiting' then most = clock end
if ARGV[5] == 'scheduled' and score <= clock then score, last = clock + 1, '' end
local at, page = call('ZCOUNT', KEYS[1], '-inf', '(' .. score), {}
while #page < 2 * count do
  local found = call('ZRANGE', KEYS[1], at, at + count - 1, 'WITHSCORES')
  if #found == 0 then break end
  at = at + count
  for n = 1, #found, 2 do
    if tonumber(found[n + 1]) > most then count = #page / 2 end
    if #page < 2 * count and (tonumber(found[n + 1]) > score or found[n] > last) then
      page[#page + 1], page[#page + 2] = found[n], found[n + 1]
    end
  end
end
return ' ' .. table.concat(page, ' ')
