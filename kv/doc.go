// Package kv is the contract of the embedded ordered store under everything
// octopus keeps: bytes to bytes, in key order, changed by atomic batches.
//
// Memory is the reference implementation, package kv/pebblekv the one that
// keeps data, and package kv/kvtest the suite that holds both to the contract.
package kv
