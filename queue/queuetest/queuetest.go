package queuetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"octopus/kv"
	"octopus/queue"
)

// Queue is what the suite needs of a queue.
type Queue interface {
	Push(records ...[]byte) error
	Next(ctx context.Context, max int) ([]queue.Item, error)
	Ack(seq int64, d kv.Durability) error
	Len() int64
}

// Open returns an empty queue, and a function that opens it again as after a
// crash of its user.
type Open func(t *testing.T) (q Queue, again func() Queue)

// Run tests the queue that open returns.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"Order", testOrder},
		{"Redelivery", testRedelivery},
		{"AckIsCumulative", testAck},
		{"Blocks", testBlocks},
		{"Sizes", testSizes},
		{"ManyAtOnce", testMany},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

func testOrder(t *testing.T, open Open) {
	q, _ := open(t)
	for i := 0; i < 100; i += 4 {
		push(t, q, i, i+4)
	}
	last := int64(-1)
	for n := 0; n < 100; {
		items := next(t, q, 7)
		for _, it := range items {
			if string(it.Data) != record(n) || it.Seq <= last {
				t.Fatalf("item %d is %q with number %d after %d", n, it.Data, it.Seq, last)
			}
			last = it.Seq
			n++
		}
	}
	if q.Len() != 100 {
		t.Errorf("Len before any Ack is %d, want 100", q.Len())
	}
	if err := q.Ack(last, kv.Sync); err != nil || q.Len() != 0 {
		t.Errorf("Ack of all: %v, Len %d", err, q.Len())
	}
}

func testRedelivery(t *testing.T, open Open) {
	q, again := open(t)
	push(t, q, 0, 10)
	items := next(t, q, 6)
	if len(items) != 6 {
		t.Fatalf("%d items, want 6", len(items))
	}
	if err := q.Ack(items[2].Seq, kv.Sync); err != nil {
		t.Fatal(err)
	}
	q = again()
	if q.Len() != 7 {
		t.Errorf("Len after reopening is %d, want 7", q.Len())
	}
	for n := 3; n < 10; {
		for _, it := range next(t, q, 4) {
			if string(it.Data) != record(n) {
				t.Fatalf("after reopening item %d is %q", n, it.Data)
			}
			n++
		}
	}
	push(t, q, 10, 11)
	if it := next(t, q, 4); len(it) != 1 || string(it[0].Data) != record(10) {
		t.Errorf("a record pushed after reopening came as %v", it)
	}
}

func testAck(t *testing.T, open Open) {
	q, _ := open(t)
	push(t, q, 0, 100)
	items := next(t, q, 100)
	for _, i := range []int{10, 5, 10, 90, 99} { // an older number changes nothing
		if err := q.Ack(items[i].Seq, kv.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if q.Len() != 0 {
		t.Errorf("Len is %d, want 0", q.Len())
	}
}

func testBlocks(t *testing.T, open Open) {
	q, _ := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := q.Next(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Next of an empty queue after the end of its context: %v", err)
	}
	got := make(chan []queue.Item)
	go func() {
		items, err := q.Next(context.Background(), 1)
		if err != nil {
			t.Error(err)
		}
		got <- items
	}()
	push(t, q, 0, 1)
	if items := <-got; len(items) != 1 || string(items[0].Data) != record(0) {
		t.Errorf("the waiting Next got %v", items)
	}
}

func testSizes(t *testing.T, open Open) {
	q, again := open(t)
	big := make([]byte, 3<<20)
	for _, r := range [][]byte{{}, big, {0}, big, big} {
		if err := q.Push(r); err != nil {
			t.Fatal(err)
		}
	}
	q = again()
	var sizes []int
	for len(sizes) < 5 {
		for _, it := range next(t, q, 10) {
			sizes = append(sizes, len(it.Data))
		}
	}
	if got, want := fmt.Sprint(sizes), fmt.Sprint([]int{0, len(big), 1, len(big), len(big)}); got != want {
		t.Errorf("sizes %s, want %s", got, want)
	}
}

// testMany has producers and consumers at once: each record arrives once.
func testMany(t *testing.T, open Open) {
	const producers, each = 4, 100
	q, _ := open(t)
	var makers, takers sync.WaitGroup
	for p := range producers {
		makers.Go(func() {
			for i := range each {
				push(t, q, p*each+i, p*each+i+1)
			}
		})
	}
	var mu sync.Mutex
	seen := map[string]int{}
	ctx, cancel := context.WithCancel(context.Background())
	for range 3 {
		takers.Go(func() {
			for {
				items, err := q.Next(ctx, 5)
				if err != nil {
					return
				}
				mu.Lock()
				for _, it := range items {
					seen[string(it.Data)]++
				}
				if len(seen) == producers*each {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	makers.Wait()
	takers.Wait()
	cancel()
	for r, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", r, n)
		}
	}
}

func record(n int) string { return fmt.Sprintf("record %d", n) }

// push adds the records [from, to) in one call.
func push(t *testing.T, q Queue, from, to int) {
	t.Helper()
	var all [][]byte
	for n := from; n < to; n++ {
		all = append(all, []byte(record(n)))
	}
	if err := q.Push(all...); err != nil {
		t.Errorf("Push: %v", err)
	}
}

func next(t *testing.T, q Queue, max int) []queue.Item {
	t.Helper()
	items, err := q.Next(context.Background(), max)
	if err != nil || len(items) == 0 || len(items) > max {
		t.Fatalf("Next(%d) = %d items, %v", max, len(items), err)
	}
	return items
}
