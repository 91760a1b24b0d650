package parse

import (
	"octopus/parse/scan"
)

// A block of topic links is what makes a list of articles: links with the text
// of a headline, one after the other, with not much more between them than
// teasers.
const (
	topicLeast  = 6   // different targets, from which on a block is a large one
	topicTeaser = 700 // bytes of text in no link that may stand between two of them
	topicShort  = 5   // links with a short text that may: sections, authors, comments
)

// topicRefs returns the targets, as written, of the links in large blocks of
// topic links; nil where the page has none.
func topicRefs(refs []scan.Ref) map[string]bool {
	var topics, block map[string]bool
	var last int32 // Plain of the last link of the block
	short := 0
	end := func() {
		if len(block) >= topicLeast {
			if topics == nil {
				topics = map[string]bool{}
			}
			for target := range block {
				topics[target] = true
			}
		}
		block, short = nil, 0
	}
	for i := range refs {
		r := &refs[i]
		switch {
		case r.Tag != scan.A || r.Text == 0:
			continue
		case r.Text < scan.LongLink:
			short++
			continue
		case short > topicShort || r.Plain-last > topicTeaser:
			end()
		}
		if block == nil {
			block = map[string]bool{}
		}
		block[string(r.URL)] = true
		last, short = r.Plain, 0
	}
	end()
	return topics
}
