package scan

// name is a tag name in lower case, packed into a number, so that comparing and
// switching cost one instruction. Names of more than eight characters are 0.
type name uint64

// pack reads the tag name at b[i:] and returns it with the index behind it.
func pack(b []byte, i int) (name, int) {
	var n name
	start := i
	for shift := uint(0); i < len(b); i++ {
		c := b[i]
		if c == '>' || c == '/' || c <= ' ' && isSpace(c) {
			break
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		n |= name(c) << shift
		shift += 8 // shifting by 64 and more gives 0
	}
	if i-start > 8 {
		n = 0
	}
	return n, i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// Packed names; see the test that holds them to their spelling.
const (
	tagA        name = 'a'
	tagB        name = 'b'
	tagI        name = 'i'
	tagP        name = 'p'
	tagQ        name = 'q'
	tagS        name = 's'
	tagU        name = 'u'
	tagEM       name = 'e' | 'm'<<8
	tagH1       name = 'h' | '1'<<8
	tagH2       name = 'h' | '2'<<8
	tagH3       name = 'h' | '3'<<8
	tagH4       name = 'h' | '4'<<8
	tagH5       name = 'h' | '5'<<8
	tagH6       name = 'h' | '6'<<8
	tagLI       name = 'l' | 'i'<<8
	tagBDI      name = 'b' | 'd'<<8 | 'i'<<16
	tagBig      name = 'b' | 'i'<<8 | 'g'<<16
	tagDel      name = 'd' | 'e'<<8 | 'l'<<16
	tagDiv      name = 'd' | 'i'<<8 | 'v'<<16
	tagImg      name = 'i' | 'm'<<8 | 'g'<<16
	tagIns      name = 'i' | 'n'<<8 | 's'<<16
	tagKbd      name = 'k' | 'b'<<8 | 'd'<<16
	tagSub      name = 's' | 'u'<<8 | 'b'<<16
	tagSup      name = 's' | 'u'<<8 | 'p'<<16
	tagSvg      name = 's' | 'v'<<8 | 'g'<<16
	tagWbr      name = 'w' | 'b'<<8 | 'r'<<16
	tagXmp      name = 'x' | 'm'<<8 | 'p'<<16
	tagAbbr     name = 'a' | 'b'<<8 | 'b'<<16 | 'r'<<24
	tagArea     name = 'a' | 'r'<<8 | 'e'<<16 | 'a'<<24
	tagBase     name = 'b' | 'a'<<8 | 's'<<16 | 'e'<<24
	tagBody     name = 'b' | 'o'<<8 | 'd'<<16 | 'y'<<24
	tagCite     name = 'c' | 'i'<<8 | 't'<<16 | 'e'<<24
	tagCode     name = 'c' | 'o'<<8 | 'd'<<16 | 'e'<<24
	tagFont     name = 'f' | 'o'<<8 | 'n'<<16 | 't'<<24
	tagHTML     name = 'h' | 't'<<8 | 'm'<<16 | 'l'<<24
	tagLink     name = 'l' | 'i'<<8 | 'n'<<16 | 'k'<<24
	tagMark     name = 'm' | 'a'<<8 | 'r'<<16 | 'k'<<24
	tagMath     name = 'm' | 'a'<<8 | 't'<<16 | 'h'<<24
	tagMeta     name = 'm' | 'e'<<8 | 't'<<16 | 'a'<<24
	tagRuby     name = 'r' | 'u'<<8 | 'b'<<16 | 'y'<<24
	tagSpan     name = 's' | 'p'<<8 | 'a'<<16 | 'n'<<24
	tagTime     name = 't' | 'i'<<8 | 'm'<<16 | 'e'<<24
	tagAudio    name = 'a' | 'u'<<8 | 'd'<<16 | 'i'<<24 | 'o'<<32
	tagEmbed    name = 'e' | 'm'<<8 | 'b'<<16 | 'e'<<24 | 'd'<<32
	tagFrame    name = 'f' | 'r'<<8 | 'a'<<16 | 'm'<<24 | 'e'<<32
	tagLabel    name = 'l' | 'a'<<8 | 'b'<<16 | 'e'<<24 | 'l'<<32
	tagSmall    name = 's' | 'm'<<8 | 'a'<<16 | 'l'<<24 | 'l'<<32
	tagStyle    name = 's' | 't'<<8 | 'y'<<16 | 'l'<<24 | 'e'<<32
	tagTable    name = 't' | 'a'<<8 | 'b'<<16 | 'l'<<24 | 'e'<<32
	tagTitle    name = 't' | 'i'<<8 | 't'<<16 | 'l'<<24 | 'e'<<32
	tagVideo    name = 'v' | 'i'<<8 | 'd'<<16 | 'e'<<24 | 'o'<<32
	tagIframe   name = 'i' | 'f'<<8 | 'r'<<16 | 'a'<<24 | 'm'<<32 | 'e'<<40
	tagObject   name = 'o' | 'b'<<8 | 'j'<<16 | 'e'<<24 | 'c'<<32 | 't'<<40
	tagScript   name = 's' | 'c'<<8 | 'r'<<16 | 'i'<<24 | 'p'<<32 | 't'<<40
	tagSource   name = 's' | 'o'<<8 | 'u'<<16 | 'r'<<24 | 'c'<<32 | 'e'<<40
	tagStrong   name = 's' | 't'<<8 | 'r'<<16 | 'o'<<24 | 'n'<<32 | 'g'<<40
	tagNoembed  name = 'n' | 'o'<<8 | 'e'<<16 | 'm'<<24 | 'b'<<32 | 'e'<<40 | 'd'<<48
	tagNoframes name = 'n' | 'o'<<8 | 'f'<<16 | 'r'<<24 | 'a'<<32 | 'm'<<40 | 'e'<<48 | 's'<<56
	tagTextarea name = 't' | 'e'<<8 | 'x'<<16 | 't'<<24 | 'a'<<32 | 'r'<<40 | 'e'<<48 | 'a'<<56
)

// inline reports whether a tag does not end a block of text.
func inline(n name) bool {
	switch n {
	case tagA, tagB, tagI, tagQ, tagS, tagU, tagEM, tagBDI, tagBig, tagDel, tagImg, tagIns, tagKbd, tagSub, tagSup,
		tagWbr, tagAbbr, tagCite, tagCode, tagFont, tagMark, tagRuby, tagSpan, tagTime, tagLabel, tagSmall, tagStrong:
		return true
	}
	return false
}
