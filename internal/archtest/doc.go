// Package archtest holds the architecture as tests: which package may import
// which, who may touch the clock, the network and the process, and that every
// package says what it is for.
package archtest
