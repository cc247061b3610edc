-- Packs operations' own windows for a field.
return function(levels, ats)
  local parts = {}
  for window, level in pairs(levels) do parts[#parts + 1] = pack('<Bc0dd', #window, window, level, ats[window]) end
  return table.concat(parts)
end
