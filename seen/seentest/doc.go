// Package seentest holds every seen.Set to the contract.
package seentest
