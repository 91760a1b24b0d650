package container

import "context"

// DropOldest removes the oldest segment with all versions in it, where another
// one follows; a content that later versions share stays with the first of
// those. Segments of the result is 0 where there is nothing to remove.
func (c *Container) DropOldest(ctx context.Context) (Rewritten, error) {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	segments := c.list()
	if len(segments) < 2 {
		return Rewritten{}, nil
	}
	oldest := segments[0].number
	r := &rewrite{Container: c, victims: map[int]bool{oldest: true}, touched: map[int]bool{}}
	r.dead = func(l link) bool { return l.at.segment() == oldest }
	err := r.run(ctx, nil)
	return r.sum, err
}
