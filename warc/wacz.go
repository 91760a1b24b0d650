package warc

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// WACZ writes a Web Archive Collection Zipped, version 1.1.1: a ZIP file with
// WARC files, their index and a list of pages, which replay tools open as it is.
// Use it in this order: AddWARC for each file, then Index and Pages, then Close.
// It keeps nothing in memory but the list of files.
type WACZ struct {
	z         *zip.Writer
	meta      WACZInfo
	resources []resource
}

// WACZInfo describes the collection. Created is required.
type WACZInfo struct {
	Title, Description, Software string
	Created                      time.Time
	MainPageURL                  string
}

// Page is an entry of the page list.
type Page struct {
	URL   string    `json:"url"`
	Time  time.Time `json:"ts"`
	Title string    `json:"title,omitempty"`
}

type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// NewWACZ begins a file.
func NewWACZ(w io.Writer, info WACZInfo) *WACZ { return &WACZ{z: zip.NewWriter(w), meta: info} }

// AddWARC copies a WARC file into the collection under a name without
// directory, uncompressed so that records can be read in place.
func (a *WACZ) AddWARC(name string, r io.Reader) error {
	return a.add("archive/"+name, zip.Store, func(w io.Writer) error { _, err := io.Copy(w, r); return err })
}

// Index writes the index: sorted CDXJ lines whose filenames are names given to
// AddWARC.
func (a *WACZ) Index(r io.Reader) error {
	return a.add("indexes/index.cdx", zip.Deflate, func(w io.Writer) error { _, err := io.Copy(w, r); return err })
}

// Pages writes the page list. next returns the pages, and io.EOF after the
// last.
func (a *WACZ) Pages(next func() (Page, error)) error {
	return a.add("pages/pages.jsonl", zip.Deflate, func(w io.Writer) error {
		if _, err := io.WriteString(w, `{"format":"json-pages-1.0","id":"pages","title":"All Pages"}`+"\n"); err != nil {
			return err
		}
		enc := json.NewEncoder(w)
		for {
			p, err := next()
			if err == io.EOF {
				return nil
			}
			if err == nil {
				p.Time = p.Time.UTC()
				err = enc.Encode(p)
			}
			if err != nil {
				return err
			}
		}
	})
}

// Close writes the descriptions and ends the file.
func (a *WACZ) Close() error {
	pkg := struct {
		Profile     string     `json:"profile"`
		Version     string     `json:"wacz_version"`
		Title       string     `json:"title,omitempty"`
		Description string     `json:"description,omitempty"`
		Software    string     `json:"software,omitempty"`
		Created     string     `json:"created"`
		MainPageURL string     `json:"mainPageUrl,omitempty"`
		Resources   []resource `json:"resources"`
	}{"data-package", "1.1.1", a.meta.Title, a.meta.Description, a.meta.Software,
		a.meta.Created.UTC().Format(time.RFC3339), a.meta.MainPageURL, a.resources}
	text, err := json.MarshalIndent(pkg, "", "  ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	digest, _ := json.Marshal(map[string]string{"path": "datapackage.json", "hash": "sha256:" + hex.EncodeToString(sum[:])})
	for name, data := range map[string][]byte{"datapackage.json": text, "datapackage-digest.json": digest} {
		if err := a.add(name, zip.Deflate, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(data)); return err }); err != nil {
			return err
		}
	}
	return a.z.Close()
}

// add writes one file and notes its hash.
func (a *WACZ) add(path string, method uint16, write func(io.Writer) error) error {
	f, err := a.z.CreateHeader(&zip.FileHeader{Name: path, Method: method, Modified: a.meta.Created})
	if err != nil {
		return fmt.Errorf("WACZ: %s: %w", path, err)
	}
	sum, n := sha256.New(), new(tally)
	if err := write(io.MultiWriter(f, sum, n)); err != nil {
		return fmt.Errorf("WACZ: %s: %w", path, err)
	}
	name := path[bytes.LastIndexByte([]byte(path), '/')+1:]
	a.resources = append(a.resources, resource{name, path, "sha256:" + hex.EncodeToString(sum.Sum(nil)), int64(*n)})
	return nil
}

// tally counts bytes.
type tally int64

func (c *tally) Write(p []byte) (int, error) {
	*c += tally(len(p))
	return len(p), nil
}
