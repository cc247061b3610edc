-- Returns the field of an address in its group, and its value. Attackers choose addresses, so groups are bounded: in a
-- full one, all new addresses share a field, until the state in it has expired. `groups` has what this batch adds.
return function(groups, name, address)
  local group = groups[name] or { opened = 0 }
  groups[name] = group
  local found = call('HMGET', name, address, SHARED_ROW)
  if found[1] then return address, found[1] end
  local shared = group.shared or found[2]
  if shared and unpack('<d', shared, STATE_BYTES + 1) > clock then return SHARED_ROW, shared end
  local rows = call('HLEN', name) + group.opened
  if rows >= MAX_ROWS then
    local all = call('HGETALL', name)
    for n = 1, #all, 2 do
      if unpack('<d', all[n + 1], STATE_BYTES + 1) <= clock then rows = rows - call('HDEL', name, all[n]) end
    end
  end
  if rows >= MAX_ROWS then return SHARED_ROW end
  group.opened = group.opened + 1
  return address
end
