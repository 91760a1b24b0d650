package container

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"time"

	"octopus/canon"
	"octopus/warc"
)

// snapshot is the length of each segment at one moment.
type snapshot map[*segment]int64

func (c *Container) snapshot() snapshot {
	sizes := snapshot{}
	for _, s := range c.list() {
		sizes[s] = s.bytes()
	}
	return sizes
}

// each calls visit for every visible version of the snapshot, in the order of
// the log, without following revisits. c.rewriting is held.
func (c *Container) each(ctx context.Context, all snapshot, visit func(*Stored) error) error {
	judged := verdicts{Container: c, kept: map[uint64][]uint64{}}
	for _, s := range c.list() {
		err := s.each(func(e keyEntry) error {
			l := link{e, e.address(s.number)}
			if err := ctx.Err(); err != nil || e.end() > all[s] || e.kind == Tombstone || !judged.visible(l) {
				return err
			}
			v, _, err := c.read(l.at)
			if err != nil {
				return err
			}
			return visit(v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// verdicts tells which versions are visible. It remembers that of the versions of
// long chains, which would be walked again for each: 8 bytes for each version, up
// to maxVerdicts. No rewrite may be under way meanwhile.
type verdicts struct {
	*Container
	kept   map[uint64][]uint64 // hash of the request -> places of its visible versions, sorted
	places int                 // in kept
}

// longChain is from how many versions on a chain is remembered, maxVerdicts how
// many versions are, in 32 MB.
const (
	longChain   = 16
	maxVerdicts = 4 << 20
)

// visible reports whether a version is on the chain of its request and not
// deleted.
func (v *verdicts) visible(l link) bool {
	hash := l.hash(v.secret)
	places, known := v.kept[hash]
	if !known {
		all, err := v.chain(l.key)
		if err != nil {
			return true // what can't be judged is shown
		}
		for _, o := range visible(all) {
			places = append(places, o.at.place())
		}
		slices.Sort(places)
		if len(all) >= longChain && v.places+len(places) <= maxVerdicts {
			v.kept[hash] = places
			v.places += len(places)
		}
	}
	_, found := slices.BinarySearch(places, l.at.place())
	return found
}

// ExportCDXJ writes the index of all versions as CDXJ lines, sorted by their
// bytes. It sorts runs of 64 MiB in temporary files beside the segments, and
// merges them. Compaction waits meanwhile.
func (c *Container) ExportCDXJ(ctx context.Context, w io.Writer) (lines int64, err error) {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	return c.exportCDXJ(ctx, w, c.snapshot())
}

func (c *Container) exportCDXJ(ctx context.Context, w io.Writer, all snapshot) (lines int64, err error) {
	sorter := &sorter{fsys: c.opt.FS, dir: c.opt.Dir}
	defer func() { err = errors.Join(err, sorter.close()) }()
	err = c.each(ctx, all, func(v *Stored) error {
		line, err := c.cdx(v)
		if err != nil {
			return err
		}
		lines++
		return sorter.add(line.Append(nil))
	})
	if err != nil {
		return lines, fmt.Errorf("container: export CDXJ: %w", err)
	}
	return lines, sorter.merge(w)
}

// cdx makes the index line of a version that was read and not followed.
func (c *Container) cdx(v *Stored) (warc.CDX, error) {
	u, err := canon.Parse(v.URL)
	if err != nil {
		return warc.CDX{}, err
	}
	s, err := c.acquire(v.Ref.Segment)
	if err != nil {
		return warc.CDX{}, err
	}
	defer s.release()
	line := warc.CDX{SURT: canon.SURT(u), Time: v.Time, URL: v.URL, MIME: "warc/revisit", Status: v.Status, Digest: v.Digest,
		Filename: c.opt.FS.PathBase(s.path) + s.suffix, Offset: v.Ref.Offset, Length: v.record}
	if v.Kind == Full {
		if line.MIME, _, err = mime.ParseMediaType(v.Header.Get("Content-Type")); err != nil {
			line.MIME = "unk"
		}
	}
	return line, nil
}

// ExportWACZ writes the whole container, as it is now, as one WACZ file.
// Compaction waits meanwhile.
func (c *Container) ExportWACZ(ctx context.Context, w io.Writer, info warc.WACZInfo) error {
	c.rewriting.Lock()
	defer c.rewriting.Unlock()
	a, all := warc.NewWACZ(w, info), c.snapshot()
	for _, s := range c.list() {
		if size := all[s]; size > 0 {
			if s.suffix != gzipSuffix {
				return fmt.Errorf("container: %s%s holds zstd frames, and readers of WACZ want gzip; import it into a store without zstd and export that", s.path, s.suffix)
			}
			name := c.opt.FS.PathBase(s.path) + s.suffix
			if err := a.AddWARC(name, io.NewSectionReader(s.warc, 0, size)); err != nil {
				return err
			}
		}
	}
	err := piped(func(w io.Writer) error { _, err := c.exportCDXJ(ctx, w, all); return err }, a.Index)
	if err != nil {
		return err
	}
	pages := func(w io.Writer) error {
		enc := json.NewEncoder(w)
		return c.scanNewest(ctx, func(s *Stored) error { return enc.Encode(warc.Page{URL: s.URL, Time: s.Time}) })
	}
	err = piped(pages, func(r io.Reader) error {
		dec := json.NewDecoder(r)
		return a.Pages(func() (p warc.Page, err error) { err = dec.Decode(&p); return p, err })
	})
	if err != nil {
		return err
	}
	return a.Close()
}

// piped lets read read what write writes. Both have ended when it returns.
func piped(write func(io.Writer) error, read func(io.Reader) error) error {
	in, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		out.CloseWithError(write(out)) // nil becomes io.EOF
	}()
	err := read(in)
	in.CloseWithError(err) // ends a write that nobody reads any more
	<-done
	return err
}

// ExportText writes the text of the newest version of every URL as WARC
// conversion records (a WET file), gzip member by member. text returns "" for
// pages that have none.
func (c *Container) ExportText(ctx context.Context, w io.Writer, text func(*Stored) string) (records int64, err error) {
	enc, err := warc.NewEncoder(0)
	if err != nil {
		return 0, err
	}
	out := warc.NewWriter(w, enc)
	now := c.opt.Now()
	info := &warc.Record{Type: warc.Warcinfo, ID: warc.NewID(), Date: now, ContentType: warc.WARCFields}
	if _, _, err := out.Write(info, c.warcinfo()); err != nil {
		return 0, err
	}
	err = c.Scan(ctx, func(s *Stored) error {
		t := text(s)
		if t == "" {
			return nil
		}
		first, err := c.head(makeAddress(s.Ref.Segment, s.Ref.Offset, s.Ref.Length))
		if err != nil {
			return err
		}
		records++
		_, _, err = out.Write(&warc.Record{Type: warc.Conversion, ID: warc.NewID(), Date: s.Time, TargetURI: s.URL,
			RefersTo: first.ID, ContentType: "text/plain", BlockDigest: warc.Digest([]byte(t))}, []byte(t))
		return err
	})
	return records, err
}

// ExportJSONL writes one JSON object for the newest version of every URL, the
// body as base64 text.
func (c *Container) ExportJSONL(ctx context.Context, w io.Writer) (lines int64, err error) {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	err = c.Scan(ctx, func(s *Stored) error {
		lines++
		return enc.Encode(struct {
			URL    string              `json:"url"`
			Time   time.Time           `json:"fetched_at"`
			Status int                 `json:"status"`
			Header map[string][]string `json:"header"`
			Digest string              `json:"digest"`
			Body   []byte              `json:"body"`
		}{s.URL, s.Time, s.Status, s.Header, s.Digest, s.Body})
	})
	return lines, errors.Join(err, out.Flush())
}
