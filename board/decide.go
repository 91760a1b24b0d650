package board

import "octopus"

// Decision is what a board says to a URL.
type Decision struct {
	Accept bool
	Reason string       // of a refusal: octopus.ReasonScope or octopus.ReasonDepth
	Rule   string       // which rule decided, in words
	Lane   octopus.Lane // of what is accepted: Data where an article pattern matches
	Class  string       // the article pattern that does; empty where none does
}

// Why tells which rules decided, in words.
func (d Decision) Why() string {
	if d.Class == "" {
		return d.Rule
	}
	return d.Rule + ", " + d.Class
}

// Decide judges a page's URL, met at a depth. It does not allocate for what it
// refuses.
func (r *Rules) Decide(u octopus.URL, depth int) Decision { return r.decide(&u, depth) }

func (r *Rules) decide(u *octopus.URL, depth int) Decision {
	s := r.scope.Load()
	if depth == 0 {
		if _, ok := s.entries[u.Text]; ok {
			return r.accepted(u, "entry")
		}
	}
	switch {
	case !s.contains(u):
		return Decision{Reason: octopus.ReasonScope, Rule: s.outside}
	case r.board.Depth >= 0 && depth > r.board.Depth:
		return Decision{Reason: octopus.ReasonDepth, Rule: r.tooDeep}
	}
	if p := match(r.reject, u.Text); p != nil {
		return Decision{Reason: octopus.ReasonScope, Rule: p.rule}
	}
	if len(r.accept) == 0 {
		return r.accepted(u, s.inside)
	}
	if p := match(r.accept, u.Text); p != nil {
		return r.accepted(u, p.rule)
	}
	return Decision{Reason: octopus.ReasonScope, Rule: r.noMatch}
}

// link judges any link.
func (r *Rules) link(l *octopus.Link) Decision {
	s := r.scope.Load()
	switch {
	case l.Kind == octopus.Robots, l.Kind == octopus.Sitemap && l.Depth == 0:
		if s.containsHost(&l.URL) {
			return Decision{Accept: true, Rule: s.inside, Lane: l.Lane}
		}
		return Decision{Reason: octopus.ReasonScope, Rule: s.outside}
	}
	d := r.decide(&l.URL, l.Depth)
	if d.Accept && d.Lane != octopus.Data && !r.Patterned() {
		d.Lane = l.Lane // no pattern says otherwise
	}
	return d
}

// Patterned reports whether the article patterns alone tell data pages from
// navigation pages.
func (r *Rules) Patterned() bool { return len(r.article) > 0 && r.board.Classify != ClassifyAuto }

// ClassifyAuto is the value of Board.Classify that has pages judged by what they
// look like where no article pattern matches.
const ClassifyAuto = "auto"

// Article returns the article pattern that a URL matches, in words; empty where
// none does.
func (r *Rules) Article(u octopus.URL) string {
	if p := match(r.article, u.Text); p != nil {
		return p.rule
	}
	return ""
}

func (r *Rules) accepted(u *octopus.URL, rule string) Decision {
	d := Decision{Accept: true, Rule: rule}
	if p := match(r.article, u.Text); p != nil {
		d.Lane, d.Class = octopus.Data, p.rule
	}
	return d
}

func match(patterns []pattern, text string) *pattern {
	for i := range patterns {
		if patterns[i].re.MatchString(text) {
			return &patterns[i]
		}
	}
	return nil
}

// isEntry reports whether a text is that of an entry, or of an entry's redirect
// target.
func (r *Rules) isEntry(text string) bool {
	_, ok := r.scope.Load().entries[text]
	return ok
}

// extend makes u an entry. It reports whether it was none before.
func (r *Rules) extend(u octopus.URL) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isEntry(u.Text) {
		return false
	}
	r.scope.Store(r.scope.Load().with(u))
	return true
}
