package charset

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

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
	body = body[:min(len(body), sniffLimit)]
	all, err := chardet.NewHtmlDetector().DetectAll(body)
	if err != nil {
		return ""
	}
	switch name := canonical(likeliest(all)); name {
	case "iso-8859-8", "iso-8859-8-i":
		// The detector has one model for both; undeclared Hebrew is the
		// superset, as good as always.
		return "windows-1255"
	case "iso-8859-1", "iso-8859-2", "iso-8859-9", "windows-1250", "windows-1252", "windows-1254", "gbk", "gb18030":
		if east := inPairs(body); east != "" {
			return east
		}
		return name
	case "windows-1251":
		if macCyrillic(body) {
			return "x-mac-cyrillic"
		}
		return name
	default:
		return name
	}
}

// likeliest returns the most confident answer. The detector lists equals in the
// order in which its goroutines end; here GB 18030, the most common, comes first,
// and the others by name.
func likeliest(all []chardet.Result) string {
	return slices.MinFunc(all, func(a, b chardet.Result) int {
		return cmp.Or(b.Confidence-a.Confidence, strings.Compare(rank(a.Charset), rank(b.Charset)))
	}).Charset
}

func rank(name string) string {
	if name == "GB18030" {
		return ""
	}
	return name
}

// macCyrillic tells the Macintosh's Cyrillic from that of Windows. They share
// the small letters but the last one, which is common: 0xDF here and 0xFF there,
// where 0xDF is its capital and never stands in a word.
func macCyrillic(body []byte) bool {
	if bytes.IndexByte(body, 0xFF) >= 0 {
		return false
	}
	n := 0
	for i := 1; i < len(body); i++ {
		if body[i] == 0xDF && body[i-1] >= 0xE0 {
			n++
		}
	}
	return n >= 2
}

// inPairs names the character set of a text so short that the detector takes it
// for Latin, which it cannot be: its bytes over 0x7F come in pairs only, as no
// Latin text's do. Pairs of kana alone are EUC-JP, pairs with the common Chinese
// characters (rows 16 to 55 of GB 2312) are GBK.
func inPairs(body []byte) string {
	kana, hanzi := 0, 0
	for i := 0; i < len(body); i++ {
		lead := body[i]
		if lead < 0x80 {
			continue
		}
		if i++; i == len(body) || body[i] < 0xA1 {
			return ""
		}
		switch {
		case lead == 0xA4 || lead == 0xA5:
			kana++
		case 0xB0 <= lead && lead <= 0xD7:
			hanzi++
		case lead < 0xA1 || lead > 0xA9: // neither characters nor their punctuation
			return ""
		}
	}
	switch {
	case kana >= 2 && hanzi == 0:
		return "euc-jp"
	case kana == 0 && hanzi >= 2:
		return "gbk"
	}
	return ""
}

// sniffLimit bounds what the detector reads: more would not change its mind.
const sniffLimit = 64 << 10
