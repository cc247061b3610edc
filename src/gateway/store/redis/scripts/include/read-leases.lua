-- Reads the leases of a subject (admission/leases.ts) from the field `leases`: the id of the last one, then of each its
-- id and when it ends.
return function(text)
  local leases = { last = 0, ends = {} }
  if not text then return leases end
  leases.last = unpack('<I4', text)
  for from = 5, #text, 12 do
    local id, ends = unpack('<I4d', text, from)
    leases.ends[id] = ends
  end
  return leases
end
