package canon

// Fast and Standard are the two ways to resolve a reference, for the test that
// holds them equal. Fast reports ok where it does not leave the reference to the
// other; refused means another scheme.
func (b *Base) Fast(ref string) (text string, ok, other bool) {
	v := b.fast(trim(ref))
	if v == plain {
		text = string(b.text)
	}
	return text, v == plain, v == refused
}

func (b *Base) Standard(ref string) (string, error) { return b.standard(ref) }

// Href resolves input as the URL Standard does, any scheme, with user name,
// password and fragment, for the standard's own tests.
func Href(base, input string) (string, error) {
	u, err := parseStandard(base, input)
	if err != nil {
		return "", err
	}
	return u.Href(false), nil
}
