-- Writes notes. Keeps an existing note of the same name, which was noted before the clock stepped back.
return function(notes)
  for n = 1, #notes, 3 do
    if notes[n + 1] == 'told' or call('HEXISTS', notes[n], notes[n + 1]) == 0 then
      call('HSET', notes[n], notes[n + 1], notes[n + 2], 'telling', '1')
    end
  end
end
