package warc_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPacked: what gzip can't make smaller is stored as it is, other bodies are
// compressed, however binary they look.
func TestPacked(t *testing.T) {
	noise := blocks()[5] // 2,500 bytes
	var sound, program, order []byte
	for i := range 4000 {
		order = append(order, byte(i))
		sound = binary.LittleEndian.AppendUint16(sound, uint16(500*math.Sin(float64(i)/30)))
		program = binary.LittleEndian.AppendUint32(program, uint32(0x48000000|rand.N(1<<14)))
	}
	for what, c := range map[string]struct {
		body []byte
		most float64 // bytes stored, in relation to the body
		less float64
	}{
		"noise": {noise, 1.3, 1}, "sound": {sound, 0.95, 0}, "program": {program, 0.8, 0}, "order": {order, 0.5, 0},
		"base64": {[]byte(base64.StdEncoding.EncodeToString(bytes.Repeat(noise, 3))), 0.9, 0},
		"text":   {[]byte(strings.Repeat("Texte haben Umlaute: äöü. ", 200)), 0.3, 0},
	} {
		member, err := encoder(t, 0).Append(nil, everything(), c.body)
		if got := float64(len(member)) / float64(len(c.body)); err != nil || got > c.most || got < c.less {
			t.Errorf("%s: %d bytes for %d, %v", what, len(member), len(c.body), err)
		}
	}
}
