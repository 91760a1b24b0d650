package charset

import (
	"strings"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// beyond holds character sets that are met in old files though the standard
// leaves them out.
var beyond = map[string]encoding.Encoding{"ibm855": charmap.CodePage855}

// sniff guesses from the bytes, or returns "".
func sniff(body []byte) string {
	res, err := chardet.NewHtmlDetector().DetectBest(body[:min(len(body), 64<<10)])
	if err != nil {
		return ""
	}
	name := strings.ToLower(res.Charset)
	if n := canonical(name); n != "" {
		return n
	}
	return ""
}
