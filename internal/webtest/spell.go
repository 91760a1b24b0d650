package webtest

import (
	"fmt"
	"strings"
)

const spellings = 14 // ways to spell a URL

// spelling writes the URL of to as a page at from might: in other words, which
// the URL Standard resolves to the same URL.
func (w *Web) spelling(way int, from, to ref) string {
	h := w.hosts[to.host]
	origin, path := w.origin(h.name), to.path
	scheme, rest, _ := strings.Cut(origin, "://")
	switch way {
	case 0:
		return origin + path
	case 1:
		return "//" + rest + path
	case 2:
		return strings.ToUpper(scheme) + "://" + strings.ToUpper(rest) + path + "#top"
	case 3:
		return fmt.Sprintf("%s://%s:0%d%s", scheme, h.name, w.port, path)
	case 4:
		return scheme + "://" + h.native + strings.TrimPrefix(rest, h.name) + path
	case 5:
		return scheme + "://user:secret@" + rest + path
	case 6:
		return " \n" + scheme + ":\t//" + rest + path + "\t "
	}
	if from.host != to.host {
		return origin + "/a/b/../../." + path + "#c"
	}
	switch way {
	case 7:
		return relative(from.path, path)
	case 8:
		return "/x/.." + path
	case 9:
		return "/./%2e" + path + "#" + h.name
	case 10:
		return "/none/%2E%2e" + path
	case 11:
		return strings.ReplaceAll(path, "/", `\`) + "#\\"
	case 12:
		return "\t" + path[:1] + "\n" + path[1:] + "  "
	default:
		return "./" + relative(from.path, path) + "#"
	}
}

// relative writes path as seen from the page at base. Neither has a query with
// a slash.
func relative(base, path string) string {
	dir := base[:strings.LastIndexByte(base, '/')+1]
	up := ""
	for !strings.HasPrefix(path, dir) {
		dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
		up += "../"
	}
	rest := path[len(dir):]
	if up == "" && (rest == "" || rest[0] == '?') {
		return "./" + rest
	}
	return up + rest
}
