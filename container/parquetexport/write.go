package parquetexport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"octopus/canon"
	"octopus/warc"
)

// Index is what Write reads: *container.Container.
type Index interface {
	// ExportCDXJ writes sorted CDXJ lines.
	ExportCDXJ(ctx context.Context, w io.Writer) (lines int64, err error)
}

// Row is one version of a page. Names and types are those of Common Crawl's
// table; the parts of the host name are counted from its end.
type Row struct {
	SURTKey          string    `parquet:"url_surtkey,zstd"`
	URL              string    `parquet:"url,zstd"`
	HostName         string    `parquet:"url_host_name,dict"`
	HostTLD          *string   `parquet:"url_host_tld,dict"`
	Host2nd          *string   `parquet:"url_host_2nd_last_part,dict"`
	Host3rd          *string   `parquet:"url_host_3rd_last_part,dict"`
	Host4th          *string   `parquet:"url_host_4th_last_part,dict"`
	Host5th          *string   `parquet:"url_host_5th_last_part,dict"`
	RegisteredDomain *string   `parquet:"url_host_registered_domain,dict"`
	Protocol         string    `parquet:"url_protocol,dict"`
	Port             *int32    `parquet:"url_port"`
	Path             *string   `parquet:"url_path,zstd"`
	Query            *string   `parquet:"url_query,zstd"`
	FetchTime        time.Time `parquet:"fetch_time,timestamp(millisecond)"`
	FetchStatus      int32     `parquet:"fetch_status"` // 0 where the record has none
	ContentDigest    *string   `parquet:"content_digest"`
	MIMEType         *string   `parquet:"content_mime_type,dict"`
	Filename         string    `parquet:"warc_filename,dict"`
	Offset           int64     `parquet:"warc_record_offset"`
	Length           int64     `parquet:"warc_record_length"`
}

// groupRows is how many rows are in a row group, which is kept in memory until
// it is whole: about 30 MB.
const groupRows = 100_000

// Write writes the whole index to w. It keeps one row group in memory.
func Write(ctx context.Context, index Index, w io.Writer) error {
	in, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := index.ExportCDXJ(ctx, out)
		out.CloseWithError(err) // nil becomes io.EOF
	}()
	err := convert(in, w)
	in.CloseWithError(err) // ends an export that nobody reads any more
	<-done
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

func convert(in io.Reader, w io.Writer) error {
	out := parquet.NewGenericWriter[Row](w, parquet.MaxRowsPerRowGroup(groupRows))
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return out.Close()
		}
		if err != nil {
			return err
		}
		c, err := warc.ParseCDX(line)
		if err != nil {
			return err
		}
		row, err := rowOf(&c)
		if err != nil {
			return err
		}
		if _, err := out.Write([]Row{row}); err != nil {
			return err
		}
	}
}

func rowOf(c *warc.CDX) (Row, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return Row{}, err
	}
	r := Row{SURTKey: c.SURT, URL: c.URL, HostName: u.Hostname(), Protocol: u.Scheme, Path: some(u.EscapedPath()), Query: some(u.RawQuery),
		FetchTime: c.Time, FetchStatus: int32(c.Status), ContentDigest: some(strings.TrimPrefix(c.Digest, "sha1:")), MIMEType: some(c.MIME),
		Filename: c.Filename, Offset: c.Offset, Length: c.Length}
	if port, err := strconv.ParseInt(u.Port(), 10, 32); err == nil {
		p := int32(port)
		r.Port = &p
	}
	r.splitHost()
	return r, nil
}

// splitHost fills the columns about parts of the host name. An IP address has
// none.
func (r *Row) splitHost() {
	if net.ParseIP(r.HostName) != nil {
		return
	}
	labels := strings.Split(r.HostName, ".")
	slices.Reverse(labels)
	for i, part := range []**string{&r.HostTLD, &r.Host2nd, &r.Host3rd, &r.Host4th, &r.Host5th} {
		if i < len(labels) {
			*part = some(labels[i])
		}
	}
	if u, err := canon.Parse("http://" + r.HostName + "/"); err == nil {
		r.RegisteredDomain = some(u.Site)
	}
}

// some returns nil for an empty text, which a column has as NULL.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
