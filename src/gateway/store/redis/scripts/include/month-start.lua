-- `monthStartMs()` of utc-month.ts, as the number of a day, for the number of a day. With whole numbers, since Redis
-- has no calendar: years are counted from 1 March of the year 0 on, so that a leap day is the last of its year.
return function(dayNumber)
  local ofEra = (dayNumber + 719468) % 146097
  local year = floor((ofEra - floor(ofEra / 1460) + floor(ofEra / 36524) - floor(ofEra / 146096)) / 365)
  local ofYear = ofEra - (365 * year + floor(year / 4) - floor(year / 100))
  return dayNumber - ofYear + floor((153 * floor((5 * ofYear + 2) / 153) + 2) / 5)
end
