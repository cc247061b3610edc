-- `monthStartMs()` of utc-month.ts, from day number to day number. In whole numbers, because Redis has no calendar:
-- years count from 1 March of the year 0, so that a leap day is the last of its year.
return function(dayNumber)
  local ofEra = (dayNumber + 719468) % 146097
  local year = floor((ofEra - floor(ofEra / 1460) + floor(ofEra / 36524) - floor(ofEra / 146096)) / 365)
  local ofYear = ofEra - (365 * year + floor(year / 4) - floor(year / 100))
  return dayNumber - ofYear + floor((153 * floor((5 * ofYear + 2) / 153) + 2) / 5)
end
