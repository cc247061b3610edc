-- Packs the leases of a subject for its field.
return function(leases)
  local parts = { pack('<I4', leases.last) }
  for id, ends in pairs(leases.ends) do parts[#parts + 1] = pack('<I4d', id, ends) end
  return table.concat(parts)
end
