-- KEYS[1]: the key. Reads clock, state and note in one step; only the clock if there is no state.
local found = call('HMGET', KEYS[1], 'state', 'ban')
return pack('<d', clock) .. (found[1] or '') .. (found[1] and found[2] or '')
