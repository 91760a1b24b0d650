-- The gap between two requests to one address, whatever the host.
-- KEYS 1  {job:ip:address}
-- ARGV 1  time in ms, '' for the server's own
--      2  '' to ask for a turn; else the end of a request in ms, 0 where none was made
--      3  how long a turn lasts at most;  4 the gap, in ms
-- Answers 0 where the turn is granted, else the time to ask again.
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local lasts, gap = tonumber(ARGV[3]), tonumber(ARGV[4])
local v = redis.call('HMGET', KEYS[1], 'until', 'next')
local busy, next = tonumber(v[1]) or 0, tonumber(v[2]) or 0
if ARGV[2] == '' then
  if next > now then return next end
  if busy > now then return math.min(busy, now + gap) end
  redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + lasts))
else
  redis.call('HDEL', KEYS[1], 'until')
  if ARGV[2] ~= '0' then
    -- now is rounded down, so the request may have ended 1 ms later
    redis.call('HSET', KEYS[1], 'next', string.format('%.0f', math.max(next, math.min(tonumber(ARGV[2]), now + 1) + gap)))
  end
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', lasts + gap))
return 0
