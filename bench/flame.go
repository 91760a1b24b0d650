package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Sizes of a flame graph, in pixels, and the share of the whole below which a
// frame is left out.
const (
	flameWidth = 1200
	flameRow   = 17
	flameLeast = 0.004
)

// frame is a function in the place where it is called, with the time of all it
// calls.
type frame struct {
	name  string
	value int64
	calls map[string]*frame
}

// printFlame writes a CPU profile as a flame graph: callers below, width is
// time, the name of a narrow frame shows when the mouse is over it.
func printFlame(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: bench flame FILE > graph.svg")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	newFlame(p).write(out)
	return out.Flush()
}

// newFlame adds up the samples of a profile.
func newFlame(p *profile.Profile) *frame {
	root := &frame{name: "all"}
	for _, s := range p.Sample {
		v := s.Value[len(s.Value)-1]
		at := root
		at.value += v
		stack := functions(s)
		for _, name := range slices.Backward(stack) {
			if at.calls[name] == nil {
				if at.calls == nil {
					at.calls = map[string]*frame{}
				}
				at.calls[name] = &frame{name: name}
			}
			at = at.calls[name]
			at.value += v
		}
	}
	return root
}

// depth is the number of rows of what is not left out.
func (f *frame) depth(least int64) int {
	deepest := 0
	for _, c := range f.calls {
		if c.value >= least {
			deepest = max(deepest, c.depth(least))
		}
	}
	return deepest + 1
}

func (f *frame) write(w io.Writer) {
	least := int64(flameLeast * float64(f.value))
	height := f.depth(least) * flameRow
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" font-size="11">`+"\n", flameWidth, height)
	f.draw(w, f.value, least, 0, height-flameRow)
	fmt.Fprintln(w, "</svg>")
}

// draw writes f with its left edge at x and those it calls above it. whole is
// the value of the root.
func (f *frame) draw(w io.Writer, whole, least int64, x float64, y int) {
	width := flameWidth * float64(f.value) / float64(whole)
	name := strings.TrimPrefix(f.name, "octopus/")
	fmt.Fprintf(w, `<g><title>%s %.1f%%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="#fff" stroke-width=".5"/>`,
		html.EscapeString(name), 100*float64(f.value)/float64(whole), x, y, width, flameRow-1, colour(f.name))
	if letters := int(width / 6.7); letters >= 4 {
		fmt.Fprintf(w, `<text x="%.1f" y="%d">%s</text>`, x+2, y+12, html.EscapeString(name[:min(len(name), letters)]))
	}
	fmt.Fprintln(w, "</g>")
	calls := slices.SortedFunc(maps.Values(f.calls), func(a, b *frame) int {
		return cmp.Or(cmp.Compare(b.value, a.value), strings.Compare(a.name, b.name))
	})
	for _, c := range calls {
		if c.value >= least {
			c.draw(w, whole, least, x, y-flameRow)
		}
		x += flameWidth * float64(c.value) / float64(whole)
	}
}

// colour is warm for octopus, cool for everything else, and the same for the
// functions of one package.
func colour(name string) string {
	dir := name[:strings.LastIndexByte(name, '/')+1]
	pkg, _, _ := strings.Cut(name[len(dir):], ".")
	h := fnv.New32a()
	io.WriteString(h, dir+pkg)
	hue := 190 + h.Sum32()%70
	if strings.HasPrefix(name, "octopus/") {
		hue = 10 + h.Sum32()%50
	}
	return fmt.Sprintf("hsl(%d,70%%,75%%)", hue)
}
