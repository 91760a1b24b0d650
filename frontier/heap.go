package frontier

// hostHeap is a binary heap of hosts, smallest first by less. Each host knows
// its place, so that it can be taken out from the middle; it stands in one heap
// at most.
type hostHeap struct {
	hosts []*host
	less  func(a, b *host) bool
}

func (q *hostHeap) len() int { return len(q.hosts) }

// top returns the smallest host, nil where there is none.
func (q *hostHeap) top() *host {
	if len(q.hosts) == 0 {
		return nil
	}
	return q.hosts[0]
}

func (q *hostHeap) push(h *host) {
	h.heap, h.at = q, len(q.hosts)
	q.hosts = append(q.hosts, h)
	q.up(h.at)
}

func (q *hostHeap) pop() *host {
	h := q.top()
	if h != nil {
		q.remove(h)
	}
	return h
}

// remove takes out h, which stands in q.
func (q *hostHeap) remove(h *host) {
	i, last := h.at, len(q.hosts)-1
	q.swap(i, last)
	q.hosts[last] = nil
	q.hosts = q.hosts[:last]
	h.heap = nil
	if i < last {
		q.down(i)
		q.up(i)
	}
}

func (q *hostHeap) swap(i, j int) {
	q.hosts[i], q.hosts[j] = q.hosts[j], q.hosts[i]
	q.hosts[i].at, q.hosts[j].at = i, j
}

func (q *hostHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.less(q.hosts[i], q.hosts[parent]) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q *hostHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.hosts) {
			return
		}
		if child+1 < len(q.hosts) && q.less(q.hosts[child+1], q.hosts[child]) {
			child++
		}
		if !q.less(q.hosts[child], q.hosts[i]) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
