package warc_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"octopus/warc"
)

// TestHead writes heads of all kinds in front of a body that is not compressed,
// and reads them with the standard library.
func TestHead(t *testing.T) {
	noise := blocks()[5]
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	heads := map[string][]byte{
		"empty": nil, "every byte": every, "every byte twice": bytes.Repeat(every, 2),
		"matches of all lengths": []byte(strings.Repeat("a", 300) + strings.Repeat("abc", 200) + "abcd"),
		"as long as can be":      bytes.Repeat(every, 28), "too long": bytes.Repeat(every, 40),
	}
	for length := range 300 { // of a match
		heads[strings.Repeat("m", length)] = []byte("MM" + strings.Repeat("m", length) + "|" + strings.Repeat("m", length))
	}
	for distance := 1; distance < 7000; distance = distance*5/4 + 1 {
		heads[http.StatusText(200)+strings.Repeat("d", distance)] = append(append([]byte("0123456789"), make([]byte, distance)...), "0123456789"...)
	}
	for what, head := range heads {
		member, err := encoder(t, 0).Append(nil, everything(), head, noise)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(member))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil || !bytes.HasSuffix(text, append(append(bytes.Clone(head), noise...), "\r\n\r\n"...)) {
			t.Fatalf("%.40s: %d bytes, %v", what, len(text), err)
		}
	}
}

// TestHeadIsSmall holds the head of a common record to what a general compressor
// makes of it.
func TestHeadIsSmall(t *testing.T) {
	noise := blocks()[5]
	r := &warc.Record{Type: warc.Response, ID: "urn:uuid:7c9b2f31-5a04-4d8e-9f16-3b2ad85e60c7", Date: date, TargetURI: "https://news.example.org/2026/11/21/a-photo.jpg",
		PayloadDigest: warc.Digest(noise), ContentType: warc.HTTPResponse}
	head := warc.HTTPBlock(200, http.Header{"Content-Type": {"image/jpeg"}, "Server": {"Apache/2.4"}, "Age": {"17"}}, int64(len(noise)))
	member, err := encoder(t, 0).Append(nil, r, head, noise)
	if err != nil {
		t.Fatal(err)
	}
	general, err := encoder(t, 6).Append(nil, r, head) // the same head without body
	if err != nil {
		t.Fatal(err)
	}
	got, want := len(member)-len(noise), len(general)
	t.Logf("%d bytes beside the body, %d with level 6", got, want)
	if got > want*11/10 {
		t.Error("too many")
	}
}
