// Package crashtest crashes a store at every write of a scenario, in memory,
// and hands what is left to a check. It serves the tests of everything that
// keeps its state on a kv.Store.
package crashtest
