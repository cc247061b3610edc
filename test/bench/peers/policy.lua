-- Runs in nginx: whose key it is, whether it may pass, and the rate headers, as Petgate tells them.
local ffi = require "ffi"
local redis = require "nginx.redis"

-- nginx is linked with OpenSSL.
ffi.cdef [[ unsigned char *SHA256(const unsigned char *text, size_t length, unsigned char *digest); ]]
local digest = ffi.new("unsigned char[32]")

local port = tonumber(os.getenv("REDIS_PORT"))
local folder = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
local file = io.open(folder .. "/admit.lua", "rb")
local script = file:read("*a")
file:close()
local sha1

local function ask(client, key, operation)
  if not sha1 then sha1 = assert(client:script("load", script)) end
  local verdict, problem = client:evalsha(sha1, 1, key, operation)
  if verdict or not tostring(problem):find("NOSCRIPT", 1, true) then return verdict, problem end
  return client:eval(script, 1, key, operation)
end

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

local function rateHeaders(verdict)
  local minuteLimit, minute, minuteReset = verdict[4], verdict[5], verdict[6]
  local dayLimit, day, dayReset, now = verdict[7], verdict[8], verdict[9], verdict[10]
  local minuteLeft, dayLeft = minuteLimit - minute, dayLimit - day
  local headers = ngx.header
  if minuteLeft <= dayLeft then
    headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset"] = minuteLimit, minuteLeft, minuteReset
  else
    headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset"] = dayLimit, dayLeft, dayReset
  end
  headers["RateLimit"] = '"minute";r=' .. minuteLeft .. ";t=" .. (minuteReset - now) .. ', "day";r=' .. dayLeft .. ";t=" .. (dayReset - now)
  headers["RateLimit-Policy"] = '"minute";q=' .. minuteLimit .. ';w=60, "day";q=' .. dayLimit .. ";w=86400"
  return minuteLeft <= 0 and minuteReset - now or dayReset - now
end

local policy = {}

function policy.admit()
  local authorization = ngx.var.http_authorization
  local token = authorization and authorization:match("^Bearer (%S+)$")
  if not token then return unauthorized("missing_api_key", "Send your key as Authorization: Bearer.") end
  ffi.C.SHA256(token, #token, digest)
  local client = redis:new()
  client:set_timeout(1000)
  local connected = client:connect("127.0.0.1", port)
  local verdict = connected and ask(client, "bench:key:" .. ffi.string(digest, 32), ngx.req.get_method())
  if not verdict then return refuse(503, "store_unavailable", "Try again soon.") end
  client:set_keepalive(60000, 1024)
  if verdict[1] == 0 then return unauthorized("invalid_api_key", "This key is not known.") end
  local waitSeconds = rateHeaders(verdict)
  if verdict[1] == 2 then
    ngx.header["Retry-After"] = math.max(1, waitSeconds)
    return refuse(429, "rate_limited", "The rate limit of this plan is reached.")
  end
  ngx.var.key_id, ngx.var.plan = verdict[2], verdict[3]
end

return policy
