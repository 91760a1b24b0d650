package warc

import "strings"

// Fields returns the block of a warcinfo or metadata record: one line per field.
func Fields(fields ...Field) []byte {
	size := 0
	for _, f := range fields {
		size += len(f.Name) + len(f.Value) + len(": \r\n")
	}
	b := make([]byte, 0, size)
	for _, f := range fields {
		b = appendField(b, f.Name, f.Value)
	}
	return b
}

// ParseFields reads such a block. Lines without a colon are skipped.
func ParseFields(block []byte) []Field {
	var fields []Field
	for len(block) > 0 {
		var line []byte
		line, block = cutLine(block)
		if name, value, ok := strings.Cut(string(line), ":"); ok && name != "" {
			fields = append(fields, Field{name, strings.Trim(value, " \t")})
		}
	}
	return fields
}
