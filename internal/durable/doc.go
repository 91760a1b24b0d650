// Package durable is the disk as octopus's own stores see it: a file system
// interface, files that are replaced whole or not at all, and checksummed
// frames.
//
// The interface is Pebble's, so that a store is tested on the same crashable
// memory and with the same injected errors as the database beside it: Disk is
// the real one, Memory and Crashable are for tests, Failing makes chosen
// operations fail.
//
// Promises. A file made by WriteFile is, after a crash at any moment, the old
// one or the new one. What File.Sync returned nil for survives a power cut if
// the name of the file does: SyncDir makes names durable.
package durable
