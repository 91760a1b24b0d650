package main

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"octopus"
	"octopus/canon"
)

// corpusBytes bounds the HTML kept in memory.
const corpusBytes = 64 << 20

// corpus makes pages.
type corpus struct {
	html   []byte
	packed bool
	length int // of a body, in bytes
}

func loadCorpus(dir string, length int, packed bool) (*corpus, error) {
	c := &corpus{packed: packed, length: length}
	if packed {
		return c, nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") || len(c.html) > corpusBytes {
			return err
		}
		b, err := os.ReadFile(path)
		if os.IsNotExist(err) { // a dangling link
			return nil
		}
		c.html = append(c.html, b...)
		return err
	})
	if err == nil && len(c.html) < 2*length {
		err = fmt.Errorf("%s holds no HTML to speak of; name a directory with -html", dir)
	}
	return c, err
}

func pageURL(i int) octopus.URL {
	u, err := canon.Parse(fmt.Sprintf("https://h%d.example/docs/section-%d/page-%d.html", i%100, i%1000, i))
	if err != nil {
		panic(err) // the text above is a URL
	}
	return u
}

// page returns page i. It is always the same.
func (c *corpus) page(i int) *octopus.Page {
	u := pageURL(i)
	p := &octopus.Page{Lease: octopus.Lease{Link: octopus.Link{URL: u}}, Start: time.Unix(1_780_000_000+int64(i), 0), Status: 200,
		Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}, "Server": {"nginx"}, "Date": {"Wed, 01 Jul 2026 12:00:00 GMT"}}}
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	if !c.packed {
		from := rng.IntN(len(c.html) - c.length)
		p.Body = append(fmt.Appendf(nil, "<!-- %s -->\n", u.Text), c.html[from:from+c.length]...)
		return p
	}
	p.Header["Content-Type"] = []string{"application/gzip"}
	p.Body = binary.LittleEndian.AppendUint64(nil, uint64(i))
	for len(p.Body) < c.length {
		p.Body = binary.LittleEndian.AppendUint64(p.Body, rng.Uint64())
	}
	return p
}
