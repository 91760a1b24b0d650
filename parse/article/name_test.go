package article

import "testing"

func TestIsName(t *testing.T) {
	for text, want := range map[string]bool{
		"Ann Author": true, "Авторова": true, "Authors": false, "ADMIN": false, "": false,
		"https://a.test/people/ann": false, "ann@a.test": false,
	} {
		if isName(text) != want {
			t.Errorf("%q is a name: %v", text, !want)
		}
	}
}
