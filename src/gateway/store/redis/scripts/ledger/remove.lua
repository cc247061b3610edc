-- KEYS: ledgers, on a single Redis many. ARGV: seconds that a mark is kept, and the sum of all counts that each had
-- when it was archived. Counts only grow, so that an equal sum is the same ledger: the mark takes its place. Answers
-- the places of those that have more. One with the mark is done.
local more = {}
for k = 1, #KEYS do
  local ledger, sum, isDone = call('HGETALL', KEYS[k]), 0, false
  for n = 1, #ledger, 2 do
    if ledger[n] == 'on top' then isDone = true else sum = sum + ledger[n + 1] end
  end
  if not isDone and (#ledger == 0 or sum == tonumber(ARGV[k + 2])) then
    call('DEL', KEYS[k])
    call('HSET', KEYS[k], 'on top', '1')
    call('EXPIRE', KEYS[k], ARGV[2])
  elseif not isDone then
    more[#more + 1] = k - 1
  end
end
return pack('<d', clock) .. ' ' .. table.concat(more, ' ')
