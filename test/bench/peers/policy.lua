-- Runs in nginx: whose key it is, whether it may pass, and the rate headers, as Petgate tells them.
local ffi = require "ffi"

-- nginx is linked with OpenSSL.
ffi.cdef [[ unsigned char *SHA256(const unsigned char *text, size_t length, unsigned char *digest); ]]
local digest = ffi.new("unsigned char[32]")

local port = tonumber(os.getenv("REDIS_PORT"))
local folder = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
local file = io.open(folder .. "/admit.lua", "rb")
local script = file:read("*a")
file:close()

local function word(text)
  return "$" .. #text .. "\r\n" .. text .. "\r\n"
end

local sha1 = ngx.sha1_bin(script):gsub(".", function(byte) return string.format("%02x", byte:byte()) end)
local by_sha1 = "*5\r\n" .. word("EVALSHA") .. word(sha1) .. word("1")
local by_text = "*5\r\n" .. word("EVAL") .. word(script) .. word("1")

-- One call of the script. Written by hand: with lua-nginx-redis the whole of nginx takes a third more CPU.
local function ask(key, operation)
  local socket = ngx.socket.tcp()
  socket:settimeout(1000)
  if not socket:connect("127.0.0.1", port) then return nil end
  local words = word(key) .. word(operation)
  socket:send(by_sha1 .. words)
  local head = socket:receive()
  if head and head:find("^-NOSCRIPT") then
    socket:send(by_text .. words)
    head = socket:receive()
  end
  local length = head and tonumber(head:match("^%$(%d+)"))
  local reply = length and socket:receive(length + 2)
  if reply then socket:setkeepalive(60000, 1024) end
  return reply
end

local VERDICT = "^(%S+) (%S+) (%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)"

local function refuse(status, code, message)
  ngx.status = status
  ngx.header["Content-Type"] = "application/json"
  local body = '{"code":"' .. code .. '","message":"' .. message .. '","status":' .. status .. "}"
  ngx.header["Content-Length"] = #body
  ngx.print(body)
  return ngx.exit(status)
end

local function unauthorized(code, message)
  ngx.header["WWW-Authenticate"] = 'Bearer realm="bench"'
  return refuse(401, code, message)
end

-- Gives how long a refused client has to wait, seconds.
local function rate_headers(minute_limit, minute, minute_reset, day_limit, day, day_reset, now)
  local minute_left, day_left = minute_limit - minute, day_limit - day
  local headers = ngx.header
  if minute_left <= day_left then
    headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset"] = minute_limit, minute_left, minute_reset
  else
    headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset"] = day_limit, day_left, day_reset
  end
  headers["RateLimit"] = '"minute";r=' .. minute_left .. ";t=" .. (minute_reset - now) .. ', "day";r=' .. day_left .. ";t=" .. (day_reset - now)
  headers["RateLimit-Policy"] = '"minute";q=' .. minute_limit .. ';w=60, "day";q=' .. day_limit .. ";w=86400"
  return math.max(1, (day_left <= 0 and day_reset or minute_reset) - now)
end

local policy = {}

function policy.admit()
  local authorization = ngx.var.http_authorization
  local token = authorization and authorization:match("^Bearer (%S+)$")
  if not token then return unauthorized("missing_api_key", "Send your key as Authorization: Bearer.") end
  ffi.C.SHA256(token, #token, digest)
  local reply = ask("bench:key:" .. ffi.string(digest, 32), ngx.req.get_method())
  if not reply then return refuse(503, "store_unavailable", "Try again soon.") end
  local verdict, id, plan, minute_limit, minute, minute_reset, day_limit, day, day_reset, now = reply:match(VERDICT)
  if not verdict then return unauthorized("invalid_api_key", "This key is not known.") end
  local wait = rate_headers(tonumber(minute_limit), tonumber(minute), tonumber(minute_reset), tonumber(day_limit), tonumber(day), tonumber(day_reset), tonumber(now))
  if verdict == "limited" then
    ngx.header["Retry-After"] = wait
    return refuse(429, "rate_limited", "The rate limit of this plan is reached.")
  end
  ngx.var.key_id, ngx.var.plan = id, plan
end

return policy
