package render

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// Limits of Needs, in bytes of UTF-8 text without white space: a Chinese
// character weighs like three letters, and so makes the same limits fit both.
const (
	enough   = 800 // text outside links from which on a page is never rendered
	little   = 200 // text outside links below which a page that loads scripts is suspect
	asksText = 400 // the same for a page that asks for JavaScript, or has an empty root
	manyRefs = 10  // links with text that make a page of its own
)

// maxLook is how much of a page Needs reads. Applications put their root at the
// beginning; a page with so many bytes before any text has its text elsewhere.
const maxLook = 2 << 20

// Needs tells from the bytes of an HTML page why a browser would show more than
// they do, or "" where it would not: the answer for every page that has text or
// links of its own, or no script. It is a guess, made to be wrong on the side
// of starting no browser.
func Needs(page []byte) string {
	if !bytes.Contains(page, []byte("<script")) && !bytes.Contains(page, []byte("<SCRIPT")) {
		return ""
	}
	s := look(page[:min(len(page), maxLook)])
	switch {
	case s.scripts == 0 || s.text >= enough:
		return ""
	case s.fragment && s.text < asksText:
		return "meta fragment"
	case s.root != "" && s.text < asksText && s.links < manyRefs:
		return "empty root #" + s.root
	case s.asks && s.text < asksText && s.links < manyRefs:
		return "asks for JavaScript"
	case s.loads && s.text < little && s.links < manyRefs/2 && !s.refresh && !s.form:
		return "little text, much script"
	}
	return ""
}

// sight is what a page looks like to somebody without scripts.
type sight struct {
	text     int    // bytes outside links
	links    int    // with text
	scripts  int    // that a browser would run
	loads    bool   // one is loaded, or a large one is in the page
	root     string // id of the empty element that an application fills
	asks     bool   // it says that JavaScript is needed
	fragment bool   // meta name=fragment: the old mark of applications
	refresh  bool   // it leads on by itself
	form     bool   // it has a field for text or a password: a login is short by nature
}

// roots are ids of elements that applications fill.
var roots = map[string]bool{
	"root": true, "app": true, "__next": true, "__nuxt": true, "app-root": true, "react-root": true, "react-app": true, "main-app": true, "application": true,
	"q-app": true, "svelte": true, "ember-app": true, "gatsby-focus-wrapper": true, "___gatsby": true, "mount": true, "vue-app": true, "spa-root": true,
}

// largeScript is the length in bytes from which on a script in the page may
// well write it.
const largeScript = 500

// looking is the state of look.
type looking struct {
	sight
	skip   string // element whose text is not shown
	inLink bool
	linked int    // bytes of text in the link
	open   string // id of the root just opened, still empty
}

// look reads the page once.
func look(page []byte) sight {
	z := html.NewTokenizer(bytes.NewReader(page))
	var l looking
	for {
		switch z.Next() {
		case html.ErrorToken:
			return l.sight
		case html.TextToken:
			l.textToken(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			l.start(string(name), attributes(z, more))
		case html.EndTagToken:
			name, _ := z.TagName()
			l.end(string(name))
		}
	}
}

func attributes(z *html.Tokenizer, more bool) map[string]string {
	if !more {
		return nil
	}
	m := map[string]string{}
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		m[string(k)] = string(v)
	}
	return m
}

func (l *looking) textToken(text []byte) {
	n := 0
	for _, word := range bytes.Fields(text) {
		n += len(word)
	}
	switch {
	case n == 0:
	case l.skip == "noscript":
		l.asks = l.asks || asksForScript(string(text))
	case l.skip == "script":
		l.loads = l.loads || n >= largeScript
	case l.skip != "":
	case l.inLink:
		l.linked += n
		l.open = ""
	default:
		if n < 300 && asksForScript(string(text)) {
			l.asks = true
			return // a plea, not content
		}
		l.text += n
		l.open = ""
	}
}

func (l *looking) start(name string, attr map[string]string) {
	if l.skip != "" {
		return
	}
	switch name {
	case "script":
		if t := strings.ToLower(attr["type"]); t == "" || t == "module" || strings.Contains(t, "javascript") || strings.Contains(t, "ecmascript") {
			l.scripts++
			l.loads = l.loads || attr["src"] != ""
			l.skip = name
		} else {
			l.skip = "data" // ends with the script
		}
	case "style", "noscript", "template", "title", "textarea", "svg":
		l.skip = name
	case "a":
		l.inLink, l.linked = attr["href"] != "", 0
	case "meta":
		l.fragment = l.fragment || strings.EqualFold(attr["name"], "fragment") && attr["content"] == "!"
		l.refresh = l.refresh || strings.EqualFold(attr["http-equiv"], "refresh")
	case "input":
		t := strings.ToLower(attr["type"])
		l.form = l.form || t == "password" || t == "text" || t == "email"
	default:
		l.element(name, attr)
	}
}

// element notes an empty root as it opens: a custom element such as <app-root>,
// or one with an id or attribute that frameworks use.
func (l *looking) element(name string, attr map[string]string) {
	id := attr["id"]
	_, angular := attr["ng-app"]
	switch {
	case roots[strings.ToLower(id)]:
		l.open = id
	case name == "app-root" || name == "my-app":
		l.open = name
	case angular:
		l.open = "ng-app"
	}
}

func (l *looking) end(name string) {
	if name == l.skip || l.skip == "data" && name == "script" {
		l.skip = ""
		return
	}
	if l.skip != "" {
		return
	}
	switch name {
	case "a":
		if l.inLink && l.linked > 0 {
			l.links++
		}
		l.inLink = false
	case "div", "main", "section", "app-root", "my-app", "body":
		if l.open != "" && l.root == "" {
			l.root = l.open
		}
		l.open = ""
	}
}

// pleas are what pages write for those who come without scripts, lower case.
var pleas = [...]string{"enable javascript", "javascript is required", "requires javascript", "need javascript", "javascript to run", "javascript is disabled",
	"enable js", "javascript enabled", "turn on javascript", "activate javascript", "javascript aktivieren", "activer javascript", "activez javascript",
	"habilite javascript", "habilita javascript", "启用javascript", "启用 javascript", "开启javascript", "开启 javascript", "啟用javascript", "啟用 javascript", "javascriptを有効", "자바스크립트"}

func asksForScript(text string) bool {
	text = strings.ToLower(text)
	for _, p := range pleas {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
