-- Hands out URLs that may be fetched now.
-- ARGV 9   how many at most
--      10  how long a lease lasts, in ms
--      11  '1': robots.txt has to be known first
-- Answers a list of {kind, lease id, key, record, host, site, gap, robots, manners}:
--   P  a page; robots is "next mode" of its authority, '' where nobody asks
--   R  the robots.txt of the authority in robots; key and record are the URL's that waits
--   D  a page whose host is dead, to be parked
local want, lasts, robots = tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11] == '1'
local STEP, PARKS = 64, 32

-- Leases that ended: the URL goes back to its place, and the host waits a gap as
-- if the request had ended now.
for _, m in ipairs(call('ZRANGEBYSCORE', T .. 'lease', '-inf', now, 'LIMIT', 0, STEP)) do
  local key = sub(m, 2)
  local h = sub(key, 1, 8)
  local gap = tonumber(call('HGET', T .. 'h:' .. h, 'gap') or hostgap)
  if sub(m, 1, 1) == 'r' then
    call('ZREM', T .. 'lease', m)
    call('HDEL', T .. 'h:' .. h, 'l' .. sub(m, 10))
    bump('leased', -1)
    release(h, gap, now)
  else
    local rec = call('HGET', T .. 'url', key)
    if not rec or not has(rec, FREED) then release(h, gap, now) end
    if rec then
      leave(key, rec)
      enter(key, withState(rec, 'q', flagged(rec, FREED, false)), 0)
    else
      forget(key, 'L', T .. 'lease', m)
    end
  end
  schedule(h)
end

-- URLs whose time has come again.
for _, key in ipairs(call('ZRANGEBYSCORE', T .. 'due', '-inf', now, 'LIMIT', 0, STEP)) do
  local rec = call('HGET', T .. 'url', key)
  if rec then
    leave(key, rec)
    if sub(rec, 1, 1) == 'r' then rec = reseq(rec) end -- behind those that wait already
    enter(key, withState(rec, 'q'), 0)
  else
    forget(key, 'l', T .. 'due', key)
  end
  schedule(sub(key, 1, 8))
end
for _, h in ipairs(call('ZRANGEBYSCORE', T .. 'wake', '-inf', now, 'LIMIT', 0, 4 * STEP)) do schedule(h) end

local out = {}
local function id() return call('HINCRBY', N, 'lease', 1) + tonumber(ARGV[8]) * 1099511627776 end
local function text(n) return string.format('%.0f', n) end

-- take makes key a leased URL and returns the lease's id and the record.
local function take(key, rec)
  local n = id()
  leave(key, rec)
  rec = 'L' .. string.char(flagged(rec, FREED, false)) .. sub(rec, 3, 8) .. struct.pack('>I8', n) .. sub(rec, 17)
  enter(key, rec, now + lasts)
  return text(n), rec
end

-- begin takes up a connection of h.
local function begin(h, gap)
  local H = T .. 'h:' .. h
  call('HINCRBY', H, 'busy', 1)
  if conns > 1 then call('HSET', H, 'next', text(now + gap)) end -- starts are spaced as well
  if sitegap > 0 then call('HSET', T .. 's:' .. sub(h, 1, 4), 'until', text(now + lasts)) end
end

for _ = 1, 4 * want + STEP do
  if #out >= want then break end
  local h = call('ZRANGE', T .. 'ready', 0, 0)[1]
  if not h then break end
  local H = T .. 'h:' .. h
  local v = call('HMGET', H, 'name', 'site', 'blocked', 'why', 'turn', 'gap', 'm')
  local gap = tonumber(v[6] or hostgap)
  local first = front(h, tonumber(v[5]) or 0)
  schedule(h) -- another host of its site may have been granted meanwhile
  if first and call('ZSCORE', T .. 'ready', h) then
    local key = h .. sub(first, 15)
    local rec = call('HGET', T .. 'url', key)
    local auth = rec and sub(rec, 34, 33 + byte(rec, 33)) or ''
    local r = robots and call('HGET', H, 'r' .. auth) or ''
    local next, mode = 0, ''
    if r and r ~= '' then next, mode = string.match(r, '^(%d+) (%d)') end
    if not rec then
      forget(key, 'q', T .. 'q:' .. h, first)
    elseif v[4] == DEAD and tonumber(v[3]) > now then
      for _, m in ipairs(call('ZRANGE', T .. 'q:' .. h, 0, PARKS - 1)) do
        local k = h .. sub(m, 15)
        local was = call('HGET', T .. 'url', k)
        if was then
          local n, l = take(k, withState(was, 'q'))
          l = withState(l, 'L', flagged(l, FREED, true))
          call('HSET', T .. 'url', k, l)
          out[#out + 1] = {'D', n, k, l, v[1], v[2], text(gap), '', v[7] or ''}
        else
          forget(k, 'q', T .. 'q:' .. h, m)
        end
      end
    elseif robots and tonumber(next) <= now then
      local fetching = call('HGET', H, 'l' .. auth)
      if fetching then -- by another connection; its answer schedules the host again
        call('ZREM', T .. 'ready', h)
        call('ZADD', T .. 'wake', string.match(fetching, ' (%d+)$'), h)
      else
        local n = text(id())
        call('HSET', H, 'l' .. auth, n .. ' ' .. text(now + lasts))
        call('ZADD', T .. 'lease', now + lasts, 'r' .. h .. auth)
        bump('leased', 1)
        begin(h, gap)
        out[#out + 1] = {'R', n, key, rec, v[1], v[2], text(gap), auth, v[7] or ''}
      end
    elseif mode == '0' then -- unreachable: the host waits
      call('HSET', H, 'blocked', text(max(tonumber(v[3] or 0), tonumber(next))), 'why', ROBOTS)
    else
      local n, l = take(key, rec)
      call('HSET', H, 'turn', byte(first) == 0 and (tonumber(v[5]) or 0) + 1 or 0)
      begin(h, gap)
      out[#out + 1] = {'P', n, key, l, v[1], v[2], text(gap), r or '', v[7] or ''}
    end
    if call('ZSCORE', T .. 'ready', h) then schedule(h) end
  end
end
return finish(out)
