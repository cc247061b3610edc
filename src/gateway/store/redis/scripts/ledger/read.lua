-- KEYS: day ledgers. Returns how many names were read, then one line for each existing ledger: its place, then fields
-- and counts.
local lines, k = {}, 0
while k < #KEYS and #lines < FOUND_AT_ONCE do
  k = k + 1
  local ledger = call('HGETALL', KEYS[k])
  if #ledger > 0 then lines[#lines + 1] = (k - 1) .. '\31' .. table.concat(ledger, '\31') .. '\n' end
end
return k .. '\n' .. table.concat(lines)
