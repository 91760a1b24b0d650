package webtest

import (
	"strconv"
	"strings"
)

var (
	adjectives = strings.Fields(`quiet early northern public late open small rising local careful steady modern hidden
		annual bright coastal distant empty final gentle heavy joint known light major narrow older plain rapid`)
	nouns = strings.Fields(`harbour council library river market bridge garden museum station valley school orchestra
		archive factory village island forest theatre railway hospital kitchen festival tower meadow port mill`)
	verbs = strings.Fields(`opens closes grows changes returns expands moves begins waits answers improves survives
		celebrates recovers invites reports continues divides measures surprises remembers builds`)
	fillers = strings.Fields(`the of and a to in is was for it with as his on be at by had not are but from or have an they
		which one you were all her she there would their we him been has when who will no more if out so up said what
		its about than into them can only other time new some could these two may first then do any like my now over
		such our man me even most made after also well before must through years where much your way down should because
		long each just state those people too how little good world very day work house water number course small place`)
	names = strings.Fields(`Ada Bela Carl Dana Emil Fred Gina Hugo Iris Jonas Klara Leon Mira Nils Olga Paul Rosa Sven
		Tara Ugo Vera Wim Yara Zoe`)
	families = strings.Fields(`Adler Brandt Costa Dvorak Eriksen Fischer Garcia Horvat Ivanov Jansen Kowalski Lindqvist
		Moreau Novak Okafor Petrov Quist Rossi Schmidt Tanaka Urban Vargas Weber Zhang`)
)

// textbook holds the paragraphs that English pages are put together from. It
// never changes.
type textbook struct{ paragraphs []string }

// newTextbook writes 512 paragraphs of ordinary compressibility.
func newTextbook(seed uint64) *textbook {
	t := &textbook{paragraphs: make([]string, 512)}
	for i := range t.paragraphs {
		r := newRng(seed, uint64(i), 't')
		var b strings.Builder
		for range 3 + r.intn(5) {
			sentence(&b, r)
		}
		t.paragraphs[i] = strings.TrimSpace(b.String())
	}
	return t
}

func sentence(b *strings.Builder, r *rng) {
	for i, n := 0, 6+r.intn(14); i < n; i++ {
		word := fillers[r.intn(len(fillers))]
		if r.intn(3) == 0 {
			word = nouns[r.intn(len(nouns))]
		}
		if i == 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	b.WriteString(". ")
}

// title returns the title of page n of host h. The number makes it unique.
func (w *Web) title(h, n int) string {
	r := newRng(w.opt.Seed, uint64(h), uint64(n), 'h')
	word := func(list []string) string { return list[r.intn(len(list))] }
	noun := word(nouns)
	return "The " + word(adjectives) + " " + noun + " " + word(verbs) + ": no. " + strconv.Itoa(n) + " of " + w.hosts[h].name
}

// author returns the author of page n of host h.
func (w *Web) author(h, n int) string {
	r := newRng(w.opt.Seed, uint64(h), uint64(n), 'a')
	return names[r.intn(len(names))] + " " + families[r.intn(len(families))]
}
