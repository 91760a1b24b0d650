-- Takes expired entries out of a hash, a part at a time.
-- KEYS 1   the hash
--      2   the plan, whose field 'cursor' tells where to go on
-- ARGV 1   time in ms, '' for the server's own
--      2   about how many entries to look at
-- Returns the number of entries in the hash, and how many were taken out.
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local part = redis.call('HSCAN', KEYS[1], redis.call('HGET', KEYS[2], 'cursor') or '0', 'COUNT', ARGV[2])
local gone = 0
for i = 1, #part[2], 2 do
  if struct.unpack('>I6', part[2][i + 1]) <= now then
    gone = gone + redis.call('HDEL', KEYS[1], part[2][i])
  end
end
redis.call('HSET', KEYS[2], 'cursor', part[1])
return {redis.call('HLEN', KEYS[1]), gone}
