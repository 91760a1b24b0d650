package charset

import (
	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// beyond holds character sets that are met in old files though the standard
// leaves them out.
var beyond = map[string]encoding.Encoding{"ibm855": charmap.CodePage855}

// aliases are labels that old files use and the standard does not know.
var aliases = map[string]string{
	"ibm855": "ibm855", "cp855": "ibm855",
	"maccyrillic": "x-mac-cyrillic", "mac-cyrillic": "x-mac-cyrillic",
	"cp949": "euc-kr", "ms949": "euc-kr", "cp936": "gbk", "cp932": "shift_jis", "cp950": "big5",
}

// sniff guesses from the bytes, or returns "".
func sniff(body []byte) string {
	res, err := chardet.NewHtmlDetector().DetectBest(body[:min(len(body), sniffLimit)])
	if err != nil {
		return ""
	}
	switch name := canonical(res.Charset); name {
	case "iso-8859-8", "iso-8859-8-i":
		// The detector has one model for both; undeclared Hebrew is the
		// superset, as good as always.
		return "windows-1255"
	default:
		return name
	}
}

// sniffLimit bounds what the detector reads: more would not change its mind.
const sniffLimit = 64 << 10
