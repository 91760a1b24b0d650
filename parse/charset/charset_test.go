package charset_test

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"octopus/parse/charset"
)

const (
	shared = "../../../shared/testdata/"
	cases  = shared + "charset/charset.jsonl.gz"
)

type testCase struct {
	Kind, Src, B64, File, Encoding string
}

func (c testCase) body(t testing.TB) []byte {
	t.Helper()
	var b []byte
	var err error
	if c.File == "" {
		b, err = base64.StdEncoding.DecodeString(c.B64)
	} else {
		b, err = gunzip(shared + "pages/" + c.File + ".html.gz")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gunzip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zr)
}

func load(t testing.TB) []testCase {
	t.Helper()
	f, err := os.Open(cases)
	if err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []testCase
	sc := bufio.NewScanner(zr)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var c testCase
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// same are labels that the Encoding Standard, or the makers of the cases, use
// for one character set.
var same = map[string]string{
	"gb2312": "gbk", "gb18030": "gbk", "cp932": "shift_jis", "cp949": "euc-kr", "tis-620": "windows-874",
	"iso-8859-1": "windows-1252", "utf-8-sig": "utf-8", "utf-16": "utf-16le", "maccyrillic": "x-mac-cyrillic",
	"iso-8859-9": "windows-1254",
}

var language = regexp.MustCompile(`-(arabic|bulgarian|croatian|czech|hungarian|polish|slovak|romanian|russian|greek|hebrew)$`)

func name(s string) string {
	s = language.ReplaceAllString(strings.ToLower(s), "")
	if n, ok := same[s]; ok {
		return n
	}
	return s
}

// TestSharedCases holds Detect to every declared case and every UTF-8 page, and
// to a floor where it has to guess.
func TestSharedCases(t *testing.T) {
	right, all := map[string]int{}, map[string]int{}
	for _, c := range load(t) {
		body := c.body(t)
		got, src := charset.Detect(body, "")
		all[c.Kind]++
		if name(got) == name(c.Encoding) {
			right[c.Kind]++
			continue
		}
		if testing.Verbose() || c.Kind != "sniff" {
			t.Logf("%s: got %s (%s), want %s: %.100q", c.Kind, got, src, c.Encoding, body)
		}
	}
	for kind, floor := range map[string]float64{"prescan": 1, "late": 1, "sniff": .94} {
		t.Logf("%s: %d of %d", kind, right[kind], all[kind])
		if float64(right[kind]) < floor*float64(all[kind]) {
			t.Errorf("%s: %d of %d right, want %.0f%%", kind, right[kind], all[kind], 100*floor)
		}
	}
}

func TestToUTF8IsValid(t *testing.T) {
	for _, c := range load(t) {
		out, cs := charset.ToUTF8(c.body(t), "")
		if !utf8.Valid(out) {
			t.Errorf("%s case %s: result in %s is not UTF-8", c.Kind, c.Encoding, cs)
		}
	}
}

func TestOrderOfEvidence(t *testing.T) {
	gbk := "\xd6\xd0\xce\xc4\xcd\xf8\xd2\xb3" // four characters
	for _, tt := range []struct {
		name, body, contentType, want string
		src                           charset.Source
	}{
		{"four Chinese characters", "<title>\xd6\xd0\xce\xc4\xb1\xea\xcc\xe2</title>", "", "gbk", charset.Sniffed},
		{"katakana", "<p>\xa5\xed\xa5\xb0\xa5\xa4\xa5\xf3</p>", "", "euc-jp", charset.Sniffed},
		{"valid UTF-8 beats every label", "<meta charset=gbk>中文网页", "text/html; charset=big5", "utf-8", charset.Valid},
		{"cut in a character", "中文网页"[:11], "", "utf-8", charset.Valid},
		{"BOM", "\xff\xfea\x00", "text/html; charset=gbk", "utf-16le", charset.BOM},
		{"header before meta", "<meta charset=big5>" + gbk, "text/html; charset=gb2312", "gbk", charset.Header},
		{"quoted header", gbk, `text/html; charset="GB18030"`, "gb18030", charset.Header},
		{"broken header", gbk, `text/html; x; charset=gbk; y`, "gbk", charset.Header},
		{"unknown header", "<meta charset=gbk>" + gbk, "text/html; charset=none", "gbk", charset.Meta},
		{"meta far down", "<script>" + strings.Repeat("x", 5000) + "</script><meta charset=gbk>" + gbk, "", "gbk", charset.Meta},
		{"meta in a late script", strings.Repeat(" ", 2000) + "<script>'<meta charset=big5>'</script><meta charset=gbk>" + gbk, "", "gbk", charset.Meta},
		{"XML prolog", `<?xml version="1.0" encoding="EUC-KR"?>` + gbk, "", "euc-kr", charset.Meta},
		{"a lie", "<meta charset=utf-8>" + strings.Repeat(gbk, 20), "", "gbk", charset.Sniffed},
		{"a slip", "<meta charset=utf-8>中文网页中文\xff", "", "utf-8", charset.Meta},
		{"UTF-16 that is not", "<meta charset=utf-16>a", "", "utf-8", charset.Meta},
		{"UTF-16 without BOM", "<\x00h\x00t\x00m\x00l\x00>\x00\x2d\x4e", "", "utf-16le", charset.Sniffed},
		{"ASCII", "<p>plain", "", "windows-1252", charset.Fallback},
		{"seven bits", "<meta charset=iso-2022-jp>\x1b$B$\"\x1b(B", "", "iso-2022-jp", charset.Meta},
	} {
		got, src := charset.Detect([]byte(tt.body), tt.contentType)
		if got == "gb18030" && tt.want == "gbk" {
			got = "gbk" // a superset; sniffing may name either
		}
		if got != tt.want || src != tt.src {
			t.Errorf("%s: got %s (%s), want %s (%s)", tt.name, got, src, tt.want, tt.src)
		}
	}
}

func TestDecoding(t *testing.T) {
	for _, tt := range []struct{ body, contentType, want string }{
		{"\xd6\xd0\xce\xc4", "text/html; charset=gb2312", "中文"},
		{"\xef\xbb\xbfab\xff", "", "ab\uFFFD"},
		{"\xff\xfe-N", "", "中"},
		{"\x1b$B$\"\x1b(B", "text/html; charset=iso-2022-jp", "あ"},
		{"caf\xe9", "text/html; charset=iso-8859-1", "café"},
		{"plain", "text/html; charset=big5", "plain"},
	} {
		if got, name := charset.ToUTF8([]byte(tt.body), tt.contentType); string(got) != tt.want {
			t.Errorf("%q as %s: %q, want %q", tt.body, name, got, tt.want)
		}
	}
}

func FuzzToUTF8(f *testing.F) {
	f.Add([]byte("<meta charset=gbk>\xd6\xd0"), "")
	f.Add([]byte("<?xml encoding='x'?><!-- --><meta http-equiv=content-type content='text/html; charset=big5'>\x81"), "text/html; charset=utf-16")
	f.Add([]byte("\x1b$B$\"\x1b(B"), "text/html; charset=iso-2022-jp")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := string(body)
		out, name := charset.ToUTF8(body, contentType)
		if !utf8.Valid(out) || name == "" {
			t.Fatalf("%q in %q: %q is not UTF-8", body, name, out)
		}
		if string(body) != before {
			t.Fatal("the body was changed")
		}
	})
}

func BenchmarkToUTF8(b *testing.B) {
	ascii := []byte(strings.Repeat("<p>lorem ipsum dolor sit amet</p>\n", 600))
	chinese := []byte(strings.Repeat("<p>中文网页中文网页</p>\n", 600))
	for name, body := range map[string][]byte{"ascii": ascii, "utf8": chinese} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				charset.ToUTF8(body, "text/html; charset=utf-8")
			}
		})
	}
}
