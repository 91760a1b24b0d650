package octopus

import "time"

// RecordVersion is the value of Record.V. It grows when a field changes its
// meaning or goes away, not when one is added.
const RecordVersion = 1

// Record tells one visit to the outside: one JSON object per line in a .jsonl
// sink. docs/reference/jsonl.md documents every field.
type Record struct {
	V         int       `json:"v"`
	URL       string    `json:"url"`
	FinalURL  string    `json:"final_url"` // the redirect target, or URL
	Status    int       `json:"status"`
	FetchedAt time.Time `json:"fetched_at"`
	FetchMS   int64     `json:"fetch_ms"`
	IP        string    `json:"ip,omitempty"`
	MIME      string    `json:"mime,omitempty"`
	Charset   string    `json:"charset,omitempty"`
	Language  string    `json:"language,omitempty"`

	Depth int    `json:"depth"`
	Via   string `json:"via,omitempty"`
	Path  string `json:"path,omitempty"` // kind of the link: E, L, R, S, J
	Board string `json:"board,omitempty"`
	Kind  string `json:"kind,omitempty"` // "nav", "data" or "other"
	Visit uint32 `json:"visit"`

	KindReason string `json:"kind_reason,omitempty"` // why it is of that kind, in words

	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Author      string   `json:"author,omitempty"`
	Published   string   `json:"published,omitempty"`
	Text        string   `json:"text,omitempty"`
	Markdown    string   `json:"markdown,omitempty"`
	Abstract    string   `json:"abstract,omitempty"` // of an article: its first sentences
	Image       string   `json:"image,omitempty"`    // that an article names as its own
	Tags        []string `json:"tags,omitempty"`     // of an article
	Canonical   string   `json:"canonical,omitempty"`
	Robots      []string `json:"robots,omitempty"` // noindex, nofollow, noarchive … of meta and X-Robots-Tag
	Links       []string `json:"links"`            // distinct canonical targets
	Assets      int      `json:"assets"`           // images, scripts and styles named by the page, not followed

	Digest      string `json:"digest,omitempty"` // "sha1:BASE32" of the decoded body
	DuplicateOf string `json:"duplicate_of,omitempty"`

	// Fingerprint is near that of pages that show nearly the same; zero where
	// there are too few words to tell.
	Fingerprint Fingerprint `json:"fingerprint,omitzero"`

	Size      int64  `json:"size"` // bytes of the decoded body
	Truncated string `json:"truncated,omitempty"`

	Rendered    bool   `json:"rendered,omitempty"`     // links and text are those a browser showed
	RenderError string `json:"render_error,omitempty"` // why a browser was asked in vain

	Error string `json:"error,omitempty"` // kind and text of what failed for good
	Skip  string `json:"skip,omitempty"`  // why the URL was not fetched: a Reason
}
