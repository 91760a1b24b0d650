-- Bloom filters, one for each window: asks all of them, adds to the first.
-- KEYS     the filters, current window first
-- ARGV 1   'add' or 'has'
--      2   time in ms, '' for the server's own
--      3   end of the current window in ms, 0 for none
--      4   when the current window's key expires, in ms, 0 for never
--      5   bits of a filter
--      6   hashes of an entry
--      7   128-bit hashes of the entries, 16 bytes each
--      8   before this time in ms the current window is in doubt; may be missing
-- Returns one byte for each entry, '1' where it was in no filter; or, where the
-- current window is over or in doubt, the time in ms, and has done nothing.
local add = ARGV[1] == 'add'
local now = tonumber(ARGV[2])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local over, expire = tonumber(ARGV[3]), tonumber(ARGV[4])
if over > 0 and (now >= over or now < tonumber(ARGV[8] or '0')) then return now end

local m, k = tonumber(ARGV[5]), tonumber(ARGV[6])
local half = math.ceil(k / 2)
local call, insert, unpack = redis.call, table.insert, unpack
local answers, fresh = {}, false
for at = 1, #ARGV[7], 16 do
  local a, b, c, d = struct.unpack('>I4I4I4I4', ARGV[7], at)
  local p = {}
  for j = 0, half - 1 do p[j + 1] = (a + j * b) % m end
  for j = 0, k - half - 1 do p[half + j + 1] = (c + j * d) % m end
  local known = false
  for w = 1, #KEYS do
    known = true
    for j = 1, k do
      if call('GETBIT', KEYS[w], p[j]) == 0 then known = false break end
    end
    if known then break end
  end
  if not known and add then
    if not fresh and call('EXISTS', KEYS[1]) == 0 then -- all at once: growing leaves slack
      call('SETRANGE', KEYS[1], math.ceil(m / 8) - 1, '\0')
    end
    fresh = true
    local set = {}
    for j = 1, k do
      insert(set, 'SET') insert(set, 'u1') insert(set, p[j]) insert(set, 1)
    end
    call('BITFIELD', KEYS[1], unpack(set))
  end
  answers[#answers + 1] = known and '0' or '1'
end
if fresh and expire > 0 and call('PTTL', KEYS[1]) == -1 then
  call('PEXPIRE', KEYS[1], math.max(expire - now, 1))
end
return table.concat(answers)
