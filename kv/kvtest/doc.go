// Package kvtest holds every kv.Store to the contract. A store's own tests call
// Run; what only that store promises (durability, say) they test themselves.
package kvtest
