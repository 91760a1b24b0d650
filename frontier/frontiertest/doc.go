// Package frontiertest holds every implementation of octopus.Frontier to what
// it promises: Run is the conformance suite, Promises says how much of it
// applies.
package frontiertest
