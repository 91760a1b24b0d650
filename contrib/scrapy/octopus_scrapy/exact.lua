-- A set of entries.
-- KEYS 1   the set
-- ARGV 1   'add' or 'has'
--      2…  the entries
-- Returns one byte for each entry, '1' where it was not in the set.
local add, answers = ARGV[1] == 'add', {}
for i = 2, #ARGV do
  local fresh
  if add then
    fresh = redis.call('SADD', KEYS[1], ARGV[i])
  else
    fresh = 1 - redis.call('SISMEMBER', KEYS[1], ARGV[i])
  end
  answers[i - 1] = fresh
end
return table.concat(answers)
