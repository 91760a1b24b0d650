// Package sinktest holds every sink.Sink to the contract: what Write has taken
// can be read back, once per (URL, visit), whatever came twice.
package sinktest
