-- Reads operations' own windows from a field: level and time of each, by name.
return function(text)
  local levels, ats, from = {}, {}, 1
  while text and from <= #text do
    local window, level, at
    window, level, at, from = unpack('<Bc0dd', text, from)
    levels[window], ats[window] = level, at
  end
  return levels, ats
end
