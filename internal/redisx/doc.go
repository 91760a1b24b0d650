// Package redisx is what the Redis adapters share: how a server is dialled, how
// a batch of Lua calls travels in one round trip and survives a flushed script
// cache, and what Redis errors mean to the person who reads them.
//
// Clients made here never send a command twice by themselves: the answer of
// "was it new?" is another the second time.
package redisx
