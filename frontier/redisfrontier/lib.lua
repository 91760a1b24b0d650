-- What all scripts of a bucket share. KEYS[1] is {job:bucket}:n; the other keys
-- begin with the same tag, so a script stays in one slot.
-- ARGV 1  time in ms, '' for the server's own
--      2  '1': the bucket need not exist yet
--      3  requests to one host that may be under way
--      4  data URLs of a host before one navigation URL; 0: always first
--      5  least gap between two requests to a site, in ms
--      6  least gap between two requests to a host, in ms
--      7  channel for wake-ups
--      8  number of the bucket
-- Times are ms. A URL record (record.go) begins with
--   1 state, 2 flags, 3 tries, 4 hop, 5-8 visits, 9-16 lease, 17-30 position,
--   31-32 length of the link, the link: length of the authority, authority, …
local call, sub, byte, max, min = redis.call, string.sub, string.byte, math.max, math.min
local N = KEYS[1]
local T = sub(N, 1, -2)
if ARGV[2] ~= '1' and call('HEXISTS', N, 'v') == 0 then
  return redis.error_reply('LOST bucket ' .. N)
end
local now = tonumber(ARGV[1])
if not now then
  local t = call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local conns, weight, sitegap, hostgap = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local NEVER = 9e15
local DEAD, ROBOTS = '4', '5' -- why a host is blocked, of package manners

-- Counters change once, at the end.
local counts = {}
local function bump(name, by) counts[name] = (counts[name] or 0) + by end

-- Which counters a URL of a state is in. A leased one counts as queued.
local NAMES = {
  q = {'queued'}, L = {'queued', 'leased'}, l = {'queued', 'later'},
  d = {'done'}, r = {'again'}, p = {'parked'}, f = {'done', 'failed'},
}
local function tally(key, state, by)
  for _, name in ipairs(NAMES[state]) do bump(name, by) end
  if state == 'q' or state == 'L' then
    local left = call('HINCRBY', T .. 'h:' .. sub(key, 1, 8), 'queued', by)
    if by == 1 and left == 1 then bump('hosts', 1) end
    if by == -1 and left == 0 then bump('hosts', -1) end
  end
end

-- Where URLs of a state stand, beside their record.
local function leave(key, rec)
  local state = sub(rec, 1, 1)
  tally(key, state, -1)
  if state == 'q' then call('ZREM', T .. 'q:' .. sub(key, 1, 8), sub(rec, 17, 30) .. sub(key, 9))
  elseif state == 'L' then call('ZREM', T .. 'lease', 'p' .. key)
  elseif state == 'l' or state == 'r' then call('ZREM', T .. 'due', key)
  elseif state == 'p' then call('ZREM', T .. 'parked', key)
  elseif state == 'f' then call('ZREM', T .. 'bad', key) end
end
local function enter(key, rec, at)
  local state = sub(rec, 1, 1)
  call('HSET', T .. 'url', key, rec)
  tally(key, state, 1)
  if state == 'q' then call('ZADD', T .. 'q:' .. sub(key, 1, 8), 0, sub(rec, 17, 30) .. sub(key, 9))
  elseif state == 'L' then call('ZADD', T .. 'lease', at, 'p' .. key)
  elseif state == 'l' or state == 'r' then call('ZADD', T .. 'due', at, key)
  elseif state == 'p' then call('ZADD', T .. 'parked', at, key)
  elseif state == 'f' then call('ZADD', T .. 'bad', at, key) end
end

-- forget takes a URL out of a table whose record is gone: somebody deleted or
-- evicted it. The bucket counts as lost then, so that the entries are offered
-- again.
local function forget(key, state, set, member)
  call('ZREM', set, member)
  tally(key, state, -1)
  call('HDEL', N, 'v')
end

-- reseq gives a record the place behind all others of its depth and weight.
local function reseq(rec)
  return sub(rec, 1, 22) .. struct.pack('>I8', call('HINCRBY', N, 'seq', 1)) .. sub(rec, 31)
end
local function withState(rec, state, flags)
  return state .. string.char(flags or byte(rec, 2)) .. sub(rec, 3)
end

local RELINK, FREED, LINKS = 1, 2, 4 -- flags of a record
local function has(rec, flag) return math.floor(byte(rec, 2) / flag) % 2 == 1 end
local function flagged(rec, flag, on)
  local f = byte(rec, 2)
  if has(rec, flag) ~= on then f = on and f + flag or f - flag end
  return f
end

-- front returns the queue member of h that goes next.
local function front(h, turn)
  local q = T .. 'q:' .. h
  local first = call('ZRANGE', q, 0, 0)[1]
  if first and weight > 0 and turn >= weight and byte(first) == 0 then
    first = call('ZRANGEBYLEX', q, '[\1', '+', 'LIMIT', 0, 1)[1] or first
  end
  return first
end

-- rank orders hosts that are due: shallower next URL, heavier, first come.
local function rank(member)
  local depth, light, high, low = struct.unpack('>I2I2I4I4', member, 3)
  return (min(depth, 4095) * 65536 + light) * 33554432 + min(high * 4294967296 + low, 33554431)
end

-- schedule puts h where it belongs after any change: into ready, wake or
-- nowhere. URLs of a dead host are due at once: they are parked.
local function schedule(h)
  call('ZREM', T .. 'ready', h)
  call('ZREM', T .. 'wake', h)
  local v = call('HMGET', T .. 'h:' .. h, 'busy', 'next', 'blocked', 'why', 'turn')
  if (tonumber(v[1]) or 0) >= conns then return end
  local first = front(h, tonumber(v[5]) or 0)
  if not first then return end
  local blocked = tonumber(v[3]) or 0
  local due = max(tonumber(v[2]) or 0, blocked)
  if v[4] == DEAD and blocked > now then
    due = 0
  elseif sitegap > 0 then
    local site = sub(h, 1, 4)
    local s = call('HMGET', T .. 's:' .. site, 'next', 'until')
    due = max(due, tonumber(s[1]) or 0)
    if (tonumber(s[2]) or 0) > now then -- until its request ends
      call('SADD', T .. 'w:' .. site, h)
      due = max(due, tonumber(s[2]))
    end
  end
  if due <= now then
    call('ZADD', T .. 'ready', rank(first), h)
  else
    call('ZADD', T .. 'wake', due, h)
  end
end

-- wakeAt returns when the bucket has something to do by itself.
local function wakeAt()
  if call('ZCARD', T .. 'ready') > 0 then return 0 end
  local at = NEVER
  for _, name in ipairs({'wake', 'due', 'lease'}) do
    local e = call('ZRANGE', T .. name, 0, 0, 'WITHSCORES')
    if e[2] then at = min(at, tonumber(e[2])) end
  end
  return at
end
local before, queuedBefore = wakeAt(), tonumber(call('HGET', N, 'queued') or '0')

-- finish writes the counters, tells everybody if the bucket has work earlier
-- than it had, or none any more, and returns the answer of the script.
local function finish(reply)
  for name, by in pairs(counts) do
    if by ~= 0 then call('HINCRBY', N, name, by) end
  end
  local wake, queued = wakeAt(), tonumber(call('HGET', N, 'queued') or '0')
  local version
  if wake < before or (queued == 0) ~= (queuedBefore == 0) then
    version = call('HINCRBY', N, 'version', 1)
    call('PUBLISH', ARGV[7], string.format('%s %.0f %.0f %.0f', ARGV[8], wake, queued, version))
  else
    version = tonumber(call('HGET', N, 'version') or '0')
  end
  return {reply, now, string.format('%.0f', wake), queued, version}
end

-- release ends a request of h: the gap starts at t, or not at all where no
-- request was made (nil).
local function release(h, gap, t)
  local H = T .. 'h:' .. h
  if call('HINCRBY', H, 'busy', -1) < 0 then call('HSET', H, 'busy', 0) end
  if t then call('HSET', H, 'next', string.format('%.0f', max(tonumber(call('HGET', H, 'next') or '0'), t + gap))) end
  if sitegap > 0 then
    local s = T .. 's:' .. sub(h, 1, 4)
    call('HDEL', s, 'until')
    if t then call('HSET', s, 'next', string.format('%.0f', max(tonumber(call('HGET', s, 'next') or '0'), t + sitegap))) end
    local waiting = call('SPOP', T .. 'w:' .. sub(h, 1, 4))
    if waiting then schedule(waiting) end
  end
end
