-- KEYS: a ledger and its key. ARGV: archived fields and counts. Keeps only what the ledger has beyond them: it is on
-- top of the archive, and stays permanently.
local setArchived = include('set-archived')
if call('HEXISTS', KEYS[1], 'on top') == 0 then
  local archived, ledger = {}, call('HGETALL', KEYS[1])
  for n = 2, #ARGV, 2 do archived[ARGV[n]] = tonumber(ARGV[n + 1]) end
  call('DEL', KEYS[1])
  for n = 1, #ledger, 2 do
    local more = ledger[n + 1] - (archived[ledger[n]] or 0)
    if more > 0 then call('HSET', KEYS[1], ledger[n], string.format('%.0f', more), 'on top', '1') end
  end
  setArchived(KEYS[2], KEYS[1], true)
end
