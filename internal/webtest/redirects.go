package webtest

import (
	"fmt"
	"strconv"
)

// redirect adds a redirect; an empty location stands for the URL of to, and to
// may be nil where the location leads nowhere.
func (l lab) redirect(path string, status int, location string, to *ref) ref {
	return l.add(path, &resource{status: status, kind: Other, location: location, target: to, raw: []byte("moved")})
}

// redirects: every status, relative and absolute, chains, loops, dead ends.
func (l lab) redirects() {
	for _, status := range []int{301, 302, 303, 307, 308} {
		end := l.page(fmt.Sprintf("/moved/to/%d.html", status))
		l.enter(l.redirect("/moved/"+strconv.Itoa(status), status, "", &end))
	}
	end := l.page("/moved/to/relative.html")
	l.enter(l.redirect("/moved/relative", 301, "to/./x/../relative.html#part", &end))
	l.enter(l.chain("/moved/chain", 4), l.chain("/moved/ten", 10), l.chain("/moved/eleven", 11))

	a, b, self := l.here("/moved/loop/a"), l.here("/moved/loop/b"), l.here("/moved/loop/self")
	l.redirect(a.path, 302, "b", &b)
	l.redirect(b.path, 302, "/moved/loop/a", &a)
	l.enter(a, l.redirect(self.path, 301, "", &self))

	there, lost, secret := l.elsewhere(), l.here("/moved/to/nothing"), l.here("/private/by-redirect.html")
	l.enter(
		l.redirect("/moved/away", 301, "", &there),
		l.redirect("/moved/lost", 302, lost.path, &lost),
		l.redirect("/moved/secret", 302, secret.path, &secret),
		l.redirect("/moved/ftp", 302, "ftp://files.example.test/x", nil),
		l.redirect("/moved/script", 302, "javascript:alert(1)", nil),
		l.redirect("/moved/silent", 302, "", nil),
	)
	l.page(secret.path)
}

// chain adds a redirect of so many hops to a page that nothing else leads to.
func (l lab) chain(path string, hops int) ref {
	to := l.page(path + "/end.html")
	for i := hops - 1; i > 0; i-- {
		to = l.redirect(fmt.Sprintf("%s/%d", path, i), 302, "", &ref{to.host, to.path})
	}
	return l.redirect(path, 301, "", &to)
}
