package board

import (
	"fmt"
	"regexp"

	"octopus"
)

// Jumps are the patterns of jumping links: addresses by which a search engine
// counts a click before it sends the reader on. The zero value has none.
type Jumps struct{ patterns []pattern }

// asked finds a question mark that was meant as one: behind a letter of a path
// and in front of the name of a parameter. In a regular expression it makes that
// letter optional, and the pattern matches no link at all.
var asked = regexp.MustCompile(`([A-Za-z0-9/_-])\?([A-Za-z0-9_]+=)`)

// CompileJumps compiles the patterns. A pattern that is written like an address,
// as in "https://www.baidu.com/link?url=.+", is taken both ways, and named in
// notes with what was probably meant. The error is a *PatternError.
func CompileJumps(texts []string) (j Jumps, notes []string, err error) {
	if j.patterns, err = compilePatterns("jumpingUrls", texts); err != nil {
		return Jumps{}, nil, err
	}
	for i, text := range texts {
		literal := asked.ReplaceAllString(text, `$1\?$2`)
		if literal == text {
			continue
		}
		both, err := compilePatterns("jumpingUrls", []string{literal})
		if err != nil {
			continue // it works as it stands
		}
		j.patterns = append(j.patterns, both[0])
		at := asked.FindStringSubmatch(text)
		notes = append(notes, fmt.Sprintf("jumpingUrls[%d]: %q makes the %q optional; %q is matched as well", i, at[0], at[1][len(at[1])-1:], literal))
	}
	return j, notes, nil
}

// match returns the words of the pattern that a URL matches, empty for none.
func (j Jumps) match(u octopus.URL) string {
	if p := match(j.patterns, u.Text); p != nil {
		return p.rule
	}
	return ""
}

// SetJumps has links that match resolved: they pass whatever the scope, are
// fetched for their target alone, and their target is judged. It is called
// before the gate is used.
func (g *Gate) SetJumps(j Jumps) { g.jumps = j }

// jump judges a link that matches a jumping pattern: it belongs to the board of
// the page that has it, unless it lies too deep for that.
func (g *Gate) jump(l *octopus.Link, from string) (ruling, bool) {
	if len(g.jumps.patterns) == 0 || l.Kind == octopus.Robots || g.jumps.match(l.URL) == "" {
		return ruling{}, false
	}
	for _, r := range *g.boards.Load() {
		if from != "" && r.board.Name != from {
			continue
		}
		if r.board.Depth < 0 || l.Depth <= r.board.Depth {
			return ruling{board: r.board.Name, lane: octopus.Data, kind: octopus.Jump}, true
		}
	}
	return ruling{reason: octopus.ReasonDepth}, true
}
