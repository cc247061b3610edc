-- What wrk sends: tokens of a file in turn, everything else prepared.
--   wrk … -s wrk.lua URL -- <file of tokens> <method> <file of the body> <name: value> …
local tokens, count, n, before, after = {}, 0, 0, nil, nil

function init(args)
  for token in io.lines(args[1]) do tokens[#tokens + 1] = token end
  count = #tokens
  local file = io.open(args[3], "rb")
  local body = file:read("*a")
  file:close()
  local fields = { Authorization = "Bearer @" }
  for place = 4, #args do
    local name, value = args[place]:match("^([^:]+): (.*)$")
    fields[name] = value
  end
  local text = wrk.format(args[2], nil, fields, body ~= "" and body or nil)
  local at = text:find("@", 1, true)
  before, after = text:sub(1, at - 1), text:sub(at + 1)
end

function request()
  n = n % count + 1
  return before .. tokens[n] .. after
end

function done(summary)
  local errors = summary.errors
  io.write(string.format('\n{"requests":%d,"refused":%d,"broken":%d}\n',
    summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
