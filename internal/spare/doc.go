// Package spare keeps slices for reuse: a bounded number of a bounded length. A
// sync.Pool would allocate to take a slice back, and has no bound.
package spare
