package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"octopus/seen"
)

// point is a measured window set.
type point struct{ keys, bytes, err float64 }

// The drawing, in pixels. Both axes are logarithmic.
const (
	width, height           = 760, 470
	left, right, top, below = 80, 20, 56, 60
)

// curve is one line of the plot.
type curve struct {
	name, colour string
	points       []point
	measured     bool
}

// published is the table that fixes six hashes and takes the best power of two:
// its error is that of three windows together, which is what a check asks.
func published(each float64) (bits float64, err float64) {
	const hashes = 6
	bits = math.Exp2(math.Ceil(math.Log2(each * hashes)))
	return bits, seen.UnionError(seen.ClassicError(each, bits, hashes), 3)
}

// draw writes memory against keys: what was measured here, a set in Redis by its
// measured bytes, and six hashes in the next power of two bits.
func (b *bench) draw(measured []point) error {
	if b.setFP == 0 {
		b.setFP = usualSetFP
	}
	curves := []curve{
		{"three daily windows, error 1e-4 asked for (measured)", "#0a7", measured, true},
		{fmt.Sprintf("Redis set of 40 digits, %.0f bytes each", b.setFP), "#c33", nil, false},
		{"three windows, 6 hashes, next power of two (formula)", "#36c", nil, false},
	}
	for keys := 30e6; keys < 610e6; keys += 10e6 {
		curves[1].points = append(curves[1].points, point{keys: keys, bytes: keys * b.setFP})
		bits, err := published(keys / 3)
		curves[2].points = append(curves[2].points, point{keys: keys, bytes: 3 * bits / 8, err: err})
	}
	return os.WriteFile(b.plot, []byte(svg(curves)), 0o644)
}

// usualSetFP is what a fingerprint took in a Redis set when redis was measured
// last; it is used where that section was left out.
const usualSetFP = 100

func across(keys float64) float64 { return left + (keys/600e6)*(width-left-right) }
func down(bytes float64) float64 {
	return height - below - (math.Log10(bytes)-8)/(math.Log10(1e11)-8)*(height-top-below)
}

func svg(curves []curve) string {
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&s, `<rect width="%d" height="%d" fill="#fff"/><text x="%d" y="18" font-size="15">Memory of three days of fingerprints</text>`+"\n", width, height, left)
	fmt.Fprintf(&s, `<text x="%d" y="36" fill="#555">drawn by bench/seen; labels are the true error of a check that asks all windows</text>`+"\n", left)
	for e := 8; e <= 11; e++ {
		y := down(math.Pow10(e))
		fmt.Fprintf(&s, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, width-right, y, y, left-6, y+4, []string{"100 MB", "1 GB", "10 GB", "100 GB"}[e-8])
	}
	for keys := 0.0; keys <= 600e6; keys += 100e6 {
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" text-anchor="middle">%.0f M</text>`+"\n", across(keys), height-below+18, keys/1e6)
	}
	fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="middle">fingerprints in three windows</text>`+"\n", (left+width-right)/2, height-below+38)
	for i, c := range curves {
		c.write(&s, i)
	}
	s.WriteString("</svg>\n")
	return s.String()
}

func (c *curve) write(s *strings.Builder, i int) {
	var path []string
	last := math.NaN()
	for _, p := range c.points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", across(p.keys), down(p.bytes)))
		if c.measured {
			fmt.Fprintf(s, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", across(p.keys), down(p.bytes), c.colour)
		}
		if grows := p.bytes != last; p.err > 0 && (c.measured || grows && !math.IsNaN(last) || p.keys >= 600e6) {
			fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="end" fill="%s">%.2g</text>`+"\n", across(p.keys)-2, down(p.bytes)+map[bool]float64{true: 18, false: -6}[c.measured], c.colour, p.err)
		}
		last = p.bytes
	}
	fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, " "), c.colour)
	fmt.Fprintf(s, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", left+12, top+14+16*i, c.colour, c.name)
}
