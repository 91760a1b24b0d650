package node

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"octopus"
	"octopus/board"
)

// BoardConfig is a board as people write it: a table [[board]] of the
// configuration file, the flags of `octopus board add`, the JSON of `octopus
// board export`. Tags are those of Config.
type BoardConfig struct {
	Name     string        `toml:"name" json:"name" help:"name of the board, unique: letters, digits, . _ -"`
	Entry    []string      `toml:"entry" json:"entry" flag:"entry" help:"URL to start from: a page, a sitemap or a feed (repeatable)"`
	Scope    octopus.Scope `toml:"scope" json:"scope" flag:"scope" help:"how far from the entries links may lead: page, prefix, host, domain or any"`
	Depth    int           `toml:"depth" json:"depth" flag:"depth" short:"d" help:"link hops from an entry: 0 fetches the entries only, -1 has no limit"`
	Accept   []string      `toml:"accept" json:"accept,omitempty" flag:"accept" help:"follow only URLs that match one of these regular expressions (repeatable)"`
	Reject   []string      `toml:"reject" json:"reject,omitempty" flag:"reject" help:"never follow URLs that match one of these regular expressions (repeatable)"`
	Article  []string      `toml:"article" json:"article,omitempty" flag:"article" help:"a URL that matches is a data page, all others are navigation pages; without any, pages are judged by what they look like (repeatable)"`
	Classify string        `toml:"classify" json:"classify,omitempty" flag:"classify" help:"auto judges pages by what they look like although there are article patterns; what matches is a data page still"`
	Refresh  Period        `toml:"refresh" json:"refresh" flag:"refresh" help:"how often navigation pages and entries are visited again: 30m, or 10m..2h to adapt to how often they change; 0s never does"`
	Recrawl  Duration      `toml:"recrawl" json:"recrawl" flag:"recrawl" help:"how often all other pages, articles included, are visited again; 0s fetches them once"`
	Quota    int64         `toml:"quota" json:"quota,omitempty" flag:"quota" help:"URLs of one host that may be known, the rest is parked; 0 leaves it to limit.pagesPerHost"`
	Delay    Duration      `toml:"delay" json:"delay" flag:"delay" help:"least pause between two requests to a host; 0s leaves it to fetcher.hostDelay"`
	Render   string        `toml:"render" json:"render" flag:"render" help:"whether a browser makes the page: off, auto (where it needs one) or always"`
}

// DefaultBoard returns a board with the defaults: it watches, an hour apart, what
// lies up to three links from its entries.
func DefaultBoard() BoardConfig {
	return BoardConfig{Scope: octopus.ScopeHost, Depth: 3, Refresh: Period{Duration(time.Hour), Duration(time.Hour)}, Render: "off"}
}

// boardName is what a board may be called. CrawlBoard is taken.
var boardName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$`)

// Validate returns a *ConfigError for the first value that cannot work; its keys
// are those of the board, such as "accept[0]".
func (b *BoardConfig) Validate() error {
	for _, check := range []struct {
		bad       bool
		key, text string
	}{
		{b.Name == "", "name", "is missing"},
		{!boardName.MatchString(b.Name) || b.Name == CrawlBoard, "name", fmt.Sprintf("is %q; use letters, digits, . _ - and not %q, which is the board of the command line", b.Name, CrawlBoard)},
		{len(b.Entry) == 0, "entry", "is missing; name at least one URL to start from"},
		{!oneOf(string(b.Scope), "page", "prefix", "host", "domain", "any"), "scope", fmt.Sprintf("is %q; use page, prefix, host, domain or any", b.Scope)},
		{!oneOf(b.Classify, "", board.ClassifyAuto), "classify", fmt.Sprintf("is %q; use auto, or leave it out", b.Classify)},
		{b.Refresh.Min < 0 || b.Refresh.Min > 0 && b.Refresh.Min < Duration(time.Second), "refresh", "must be at least 1s; 0s never visits a page again"},
		{b.Refresh.Max < b.Refresh.Min, "refresh", "ends before it begins; write the shorter period first, like 10m..2h"},
		{b.Recrawl < 0 || b.Recrawl > 0 && b.Recrawl < Duration(time.Second), "recrawl", "must be at least 1s; 0s never visits a page again"},
		{b.Depth < -1, "depth", fmt.Sprintf("is %d; -1 has no limit", b.Depth)},
		{b.Quota < 0, "quota", "is negative; 0 leaves it to limit.pagesPerHost"},
		{b.Delay < 0, "delay", "is negative; 0s leaves it to fetcher.hostDelay"},
		{!oneOf(b.Render, "off", "auto", "always"), "render", fmt.Sprintf("is %q; use off, auto or always", b.Render)},
	} {
		if check.bad {
			return &ConfigError{check.key, check.text}
		}
	}
	_, err := board.Compile(b.Board())
	return boardError(err)
}

// boardError turns an error of board.Compile into one that names the key.
func boardError(err error) error {
	var pattern *board.PatternError
	var entry *board.EntryError
	switch {
	case errors.As(err, &pattern):
		return &ConfigError{fmt.Sprintf("%s[%d]", pattern.Field, pattern.Index), pattern.Reason()}
	case errors.As(err, &entry):
		return &ConfigError{fmt.Sprintf("entry[%d]", entry.Index), fmt.Sprintf("%q is no URL to start from: %v", entry.Text, entry.Err)}
	}
	return err
}

// Board returns the board for package board.
func (b *BoardConfig) Board() octopus.Board {
	return octopus.Board{
		Name: b.Name, Entry: b.Entry, Scope: b.Scope, Depth: b.Depth, Accept: b.Accept, Reject: b.Reject, Article: b.Article,
		Classify: b.Classify, Refresh: time.Duration(b.Refresh.Min), RefreshMax: time.Duration(b.Refresh.Max),
		Recrawl: time.Duration(b.Recrawl), Quota: b.Quota, Delay: time.Duration(b.Delay), Render: b.Render,
	}
}

// boardConfig is the way back.
func boardConfig(b octopus.Board) BoardConfig {
	return BoardConfig{
		Name: b.Name, Entry: b.Entry, Scope: b.Scope, Depth: b.Depth, Accept: b.Accept, Reject: b.Reject, Article: b.Article,
		Classify: b.Classify, Refresh: Period{Duration(b.Refresh), Duration(max(b.RefreshMax, b.Refresh))},
		Recrawl: Duration(b.Recrawl), Quota: b.Quota, Delay: Duration(b.Delay), Render: b.Render,
	}
}

// jumps compiles Fetcher.JumpingUrls.
func (c *Config) jumps() (board.Jumps, error) {
	j, _, err := board.CompileJumps(c.Fetcher.JumpingUrls)
	var bad *board.PatternError
	if errors.As(err, &bad) {
		return j, &ConfigError{fmt.Sprintf("fetcher.jumpingUrls[%d]", bad.Index), bad.Reason()}
	}
	return j, err
}

// Notes returns what is valid but probably not meant, with the key in front.
func (c *Config) Notes() []string {
	_, notes, _ := board.CompileJumps(c.Fetcher.JumpingUrls) // Validate tells the error
	for i := range notes {
		notes[i] = "fetcher." + notes[i]
	}
	return append(notes, c.sharedNotes()...)
}

// checkBoards checks the boards of the file.
func (c *Config) checkBoards() error {
	names := map[string]bool{}
	for i := range c.Boards {
		err := c.Boards[i].Validate()
		if names[c.Boards[i].Name] && err == nil {
			err = &ConfigError{"name", fmt.Sprintf("is %q, like that of a board above; names must be unique", c.Boards[i].Name)}
		}
		names[c.Boards[i].Name] = true
		var bad *ConfigError
		if errors.As(err, &bad) {
			return &ConfigError{fmt.Sprintf("board[%d].%s", i, bad.Key), bad.Text}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
