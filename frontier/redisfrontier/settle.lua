-- Ends a request, and, where a new record is given, the attempt or the visit.
-- The caller has decided from what it read; where that is no longer so, nothing
-- is done and the answer is {'again', manners, record}. Else {'done', …}, or
-- {'stale'} of a robots.txt whose lease is not known.
-- ARGV 9   'P' page or 'R' robots.txt
--      10  key;  11 lease id, 8 bytes;  12 authority of R
--      13  '1': a request was made;  14 its end in ms
--      15  manners as read;  16 as they are now
--      17  blocked until, in ms;  18 why;  19 gap in ms;  20 not before, in ms
--      21  '1': the record changes;  22 as read, '' for none;  23 as it is now
--      24  time of its new state, in ms;  25 '1': behind the others of its depth
--      26  pages that came
--      27  "next mode" of R, '' to leave it;  28 the policy
--      29  name and 30 site of a host that may be unknown
local kind, key, lease, auth = ARGV[9], ARGV[10], ARGV[11], ARGV[12]
local h = sub(key, 1, 8)
local H = T .. 'h:' .. h
local manners = call('HGET', H, 'm') or ''
local rec = call('HGET', T .. 'url', key) or ''
if manners ~= ARGV[15] or (ARGV[21] == '1' and rec ~= ARGV[22]) then
  return finish({'again', manners, rec})
end

local ended = nil -- when the gap starts; now is rounded down, so it may be 1 ms later
if ARGV[13] == '1' then ended = min(tonumber(ARGV[14]), now + 1) end
local gap = tonumber(ARGV[19])
local fetching = kind == 'R' and call('HGET', H, 'l' .. auth)
local hi, lo = struct.unpack('>I4I4', lease)
local mine = string.format('%.0f', hi * 4294967296 + lo)
if kind == 'R' then
  if not fetching or string.match(fetching, '^%d+') ~= mine then return finish({'stale', manners, rec}) end
  call('HDEL', H, 'l' .. auth)
  call('ZREM', T .. 'lease', 'r' .. h .. auth)
  bump('leased', -1)
  release(h, gap, ended)
  if ARGV[27] ~= '' then
    call('HSET', H, 'r' .. auth, ARGV[27])
    call('HSET', T .. 'robots', h .. auth, ARGV[28])
  end
elseif rec ~= '' and sub(rec, 1, 1) == 'L' and sub(rec, 9, 16) == lease and not has(rec, FREED) then
  release(h, gap, ended)
  if ARGV[21] ~= '1' then call('HSET', T .. 'url', key, withState(rec, 'L', flagged(rec, FREED, true))) end
elseif ended then -- a request is a request, also after its lease ended
  call('HSET', H, 'next', string.format('%.0f', max(tonumber(call('HGET', H, 'next') or '0'), ended + gap)))
end

call('HSETNX', H, 'name', ARGV[29])
call('HSETNX', H, 'site', ARGV[30])
call('HSET', H, 'm', ARGV[16], 'blocked', ARGV[17], 'why', ARGV[18], 'gap', ARGV[19])
if tonumber(ARGV[20]) > tonumber(call('HGET', H, 'next') or '0') then call('HSET', H, 'next', ARGV[20]) end
if ARGV[21] == '1' then
  if rec == '' then -- Redis came back empty while it was fetched
    if call('ZREM', T .. 'lease', 'p' .. key) == 1 then -- or the records alone are gone
      tally(key, 'L', -1)
      release(h, gap, ended)
    end
    bump('known', 1)
    call('HINCRBY', H, 'known', 1)
    call('HINCRBY', T .. 's:' .. sub(h, 1, 4), 'known', 1)
  else
    leave(key, rec)
  end
  local new = ARGV[23]
  if ARGV[25] == '1' then new = reseq(new) end
  enter(key, new, ARGV[24])
  bump('pages', tonumber(ARGV[26]))
end
schedule(h)
return finish({'done', ARGV[16], ''})
