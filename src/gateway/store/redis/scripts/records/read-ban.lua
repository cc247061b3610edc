-- KEYS[1]: the key. Reads clock, state and note in one step; the clock alone when there is no state.
local found = call('HMGET', KEYS[1], 'state', 'ban')
return pack('<d', clock) .. pack('<d', clock) .. (found[1] or '') .. (found[1] and found[2] or '')
