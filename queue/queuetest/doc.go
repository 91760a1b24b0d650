// Package queuetest holds every durable FIFO to what its users rely on: order,
// nothing lost, everything unacknowledged handed out again.
package queuetest
