package spare

// Lists keeps empty slices. It may be used by many goroutines at once.
type Lists[T any] struct {
	free chan []T
	most int
}

// New returns room for so many lists of at most so many elements each.
func New[T any](lists, most int) *Lists[T] { return &Lists[T]{make(chan []T, lists), most} }

// Get returns an empty list. It has room for n elements if it is new; one that
// was in use before may have to grow.
func (l *Lists[T]) Get(n int) []T {
	if n <= l.most {
		select {
		case list := <-l.free:
			return list
		default:
		}
	}
	return make([]T, 0, n)
}

// Put takes a list back, which nobody may hold any more. Its elements are
// cleared, so that it keeps nothing alive. What is too long or one too many is
// left to the garbage collector.
func (l *Lists[T]) Put(list []T) {
	if cap(list) == 0 || cap(list) > l.most {
		return
	}
	clear(list)
	select {
	case l.free <- list[:0]:
	default:
	}
}
