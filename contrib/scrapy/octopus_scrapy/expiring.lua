-- Entries with the time they expire at: 6 bytes, in ms.
-- KEYS 1   the hash
-- ARGV 1   'add' or 'has'
--      2   time in ms, '' for the server's own
--      3   how long an entry lives, in ms
--      4…  the entries
-- Returns one byte for each entry, '1' where it was not in the hash or over.
local add = ARGV[1] == 'add'
local now = tonumber(ARGV[2])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local expiry = struct.pack('>I6', now + ARGV[3])
local answers = {}
for i = 4, #ARGV do
  local at = redis.call('HGET', KEYS[1], ARGV[i])
  local fresh = not at or struct.unpack('>I6', at) <= now
  if fresh and add then redis.call('HSET', KEYS[1], ARGV[i], expiry) end
  answers[i - 3] = fresh and '1' or '0'
end
return table.concat(answers)
