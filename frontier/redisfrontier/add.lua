-- Offers links. One byte for each: q queued, k known, h over the quota of its
-- host, s over the site's, d its host is dead, t it looks like a trap.
-- ARGV 9   quota of a site, 0 for none
--      10  tail of a new record;  11-12 of one parked for s, d
--      13  '1': a fetched page met at a smaller depth is read again
--      14  number of hosts, then key, name, site name of each
--      …   of each link: key, position without its number, hop, '1' or '0' as
--          the seen set says new or known ('' where there is none), the link,
--          quota of its host (0 for none) and the tail of a record parked for
--          it, tail of a record parked as a trap ('' for none)
local sitequota, relink = tonumber(ARGV[9]), ARGV[13] == '1'
local tails = {q = ARGV[10], s = ARGV[11], d = ARGV[12]}
local at = 15
local hosts = {}
for _ = 1, tonumber(ARGV[14]) do
  local h = ARGV[at]
  hosts[#hosts + 1] = h
  if call('HSETNX', T .. 'h:' .. h, 'name', ARGV[at + 1]) == 1 then
    call('HSET', T .. 'h:' .. h, 'site', ARGV[at + 2])
  end
  at = at + 3
end

local function cost(pos, hop)
  return min(byte(pos, 3) * 256 + byte(pos, 4), 4095) * 16 + min(hop, 15)
end
-- withLink returns rec with another link, and the depth and hop it was met at.
local function withLink(rec, pos, hop, link)
  local rest = 33 + struct.unpack('>I2', rec, 31)
  return sub(rec, 1, 3) .. string.char(hop) .. sub(rec, 5, 18) .. sub(pos, 3, 4) .. sub(rec, 21, 30)
    .. struct.pack('>I2', #link) .. link .. sub(rec, rest)
end

-- again queues a visited URL once more.
local function again(key, rec, pos, hop, link, relinks)
  leave(key, rec)
  local new = withLink(rec, pos, hop, link)
  new = 'q' .. string.char(flagged(new, RELINK, relinks)) .. '\0' .. sub(new, 4, 16) .. pos .. sub(new, 23)
  enter(key, reseq(new), 0)
end

local function known(key, rec, pos, hop, fresh, link)
  local state = sub(rec, 1, 1)
  local nearer = cost(pos, hop) < cost(sub(rec, 17, 22), byte(rec, 4))
  if fresh == '1' and (state == 'd' or state == 'r' or state == 'f') then
    again(key, rec, pos, hop, link, false) -- what was forgotten is fetched, not only read again
    return 'q'
  end
  if nearer then
    if (state == 'd' or state == 'r') and relink and has(rec, LINKS) then
      again(key, rec, pos, hop, link, true)
    elseif state == 'q' then
      leave(key, rec)
      enter(key, withLink(rec, pos, hop, link), 0)
    else -- a leased one too: its holder knows the old depth, so its outcome brings it back
      call('HSET', T .. 'url', key, withLink(rec, pos, hop, link))
    end
  end
  return 'k'
end

local function new(key, pos, hop, link, quota, overtail, traptail)
  local h = sub(key, 1, 8)
  local H = T .. 'h:' .. h
  local ofHost = call('HINCRBY', H, 'known', 1)
  local ofSite = call('HINCRBY', T .. 's:' .. sub(h, 1, 4), 'known', 1)
  local v = call('HMGET', H, 'why', 'blocked')
  local code, state = 'q', 'q'
  tails.h, tails.t = overtail, traptail
  if traptail ~= '' then code, state = 't', 'p'
  elseif quota > 0 and ofHost > quota then code, state = 'h', 'p'
  elseif sitequota > 0 and ofSite > sitequota then code, state = 's', 'p'
  elseif v[1] == DEAD and tonumber(v[2]) > now then code, state = 'd', 'p' end
  bump('known', 1)
  local rec = state .. '\0\0' .. string.char(hop) .. '\0\0\0\0' .. '\0\0\0\0\0\0\0\0' .. pos .. '\0\0\0\0\0\0\0\0'
  enter(key, reseq(rec .. struct.pack('>I2', #link) .. link .. tails[code]), now)
  return code
end

local codes = {}
while at <= #ARGV do
  local key, pos, hop, fresh, link = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4]
  local rec = call('HGET', T .. 'url', key)
  if rec then
    codes[#codes + 1] = known(key, rec, pos, hop, fresh, link)
  elseif fresh == '0' then
    codes[#codes + 1] = 'k' -- a filter may say so of a URL that was never met
  else
    codes[#codes + 1] = new(key, pos, hop, link, tonumber(ARGV[at + 5]), ARGV[at + 6], ARGV[at + 7])
  end
  at = at + 8
end
for _, h in ipairs(hosts) do schedule(h) end
return finish(table.concat(codes))
