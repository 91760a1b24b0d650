package webtest

import "fmt"

// elements: links in other elements than a, and what only looks like a link.
func (l lab) elements() {
	after := l.page("/markup/after-refresh.html")
	l.enter(l.add("/markup/refresh.html", &resource{refresh: "0; url='after-refresh.html'", links: []link{{to: after, tag: tagMeta}}}))

	deep := l.page("/markup/deep/er/by-base.html")
	l.enter(l.add("/markup/base.html", &resource{base: "/markup/deep/er/", links: []link{{to: deep, href: "by-base.html"}}}))
	there := l.elsewhere()
	l.enter(l.add("/markup/base-away.html", &resource{away: &there, links: []link{{to: there, href: "./", text: "away"}}}))

	l.enter(l.page("/markup/frames.html",
		link{to: l.page("/markup/in-iframe.html"), tag: tagIframe},
		link{to: l.page("/markup/in-area.html"), tag: tagArea},
		link{to: l.page("/markup/in-link-next.html"), tag: tagNext}))
	l.enter(l.add("/markup/frameset.html", &resource{links: []link{{to: l.page("/markup/in-frame.html"), tag: tagFrame}}}))

	loose := l.pages("/markup/loose/", 4)
	l.enter(l.add("/markup/loose.html", &resource{markup: looseMarkup, links: []link{
		{to: loose[0], tag: tagNone}, {to: loose[1], tag: tagNone}, {to: loose[2], tag: tagNone}, {to: loose[3], tag: tagNone}}}))
	l.enter(l.add("/markup/ghosts.html", &resource{markup: ghostMarkup}))
}

// looseMarkup has links to four pages, written carelessly.
const looseMarkup = `<A HREF=/markup/loose/0.html TITLE="a > b">no quotes</A
><a	href='/markup/loose/1.html'	class=x class=y>single quotes</a>
<p title="<a href='/markup/ghost'>"><a data-href="/markup/ghost" href = "/markup&#47;loose&#x2f;2.html">entities</a>
<!-- a --><a name=x><a title='x'href="/markup/loose/3.html">no space</a>
`

// ghostMarkup has no links at all.
const ghostMarkup = `<!-- <a href="/markup/ghost/1">comment</a> -->
<script>var a = "<a href='/markup/ghost/2'>script</a>"; // <!-- <script>
</script>
<style>/* <a href="/markup/ghost/3"> */</style>
<textarea><a href="/markup/ghost/4">text area</a></textarea>
<form action="/markup/ghost/5"><input formaction="/markup/ghost/6"></form>
<a href="mailto:someone@example.test">mail</a> <a href="javascript:void(0)">script</a> <a href="tel:+123">call</a>
<a href="data:text/html,x">data</a> <a href="#part">here</a> <a>no href</a> <a href="">empty</a> <a href="http://[">bad</a>
<img src="/asset/ghost.png" srcset="/asset/ghost2.png 2x"><object data="/asset/ghost.css"></object>
`

// otherWords: every spelling of three URLs on one page.
func (l lab) otherWords() {
	target := l.page("/words/target/one.html")
	query := l.page("/words/target/two.html?b=2&a=1")
	from := l.here("/words/here/many.html")
	var links []link
	for _, to := range []ref{target, query, l.elsewhere()} {
		for way := range spellings {
			links = append(links, link{to: to, text: fmt.Sprintf("spelling %d", way), way: way + 1})
		}
	}
	l.enter(l.page(from.path, links...))
}
