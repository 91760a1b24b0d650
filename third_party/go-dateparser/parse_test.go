package dateparser_test

import (
	"testing"

	dateparser "github.com/markusmobius/go-dateparser"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"12 March 2020":                        "2020-03-12",
		"Published on March 12th, 2020, 10:30": "2020-03-12",
		"Mar. 1, 2021":                         "2021-03-01",
		"1st of May 2019":                      "2019-05-01",
		"Donnerstag, 12. März 2020":            "2020-03-12",
		"le 1er août 2018":                     "2018-08-01",
		"12 de marzo de 2020":                  "2020-03-12",
		"7 октября 2015 г.":                    "2015-10-07",
		"2020年3月12日 星期四":                       "2020-03-12",
		"2020년 3월 12일":                         "2020-03-12",
		"2020. március 12.":                    "2020-03-12",
		"2020 March 12":                        "2020-03-12",
		"12 Aralık 2020":                       "2020-12-12",
		"March 2020":                           "", // no day
		"12 March":                             "", // no year
		"31 February 2020":                     "",
		"12 3 2020":                            "", // numbers are go-htmldate's
		"42 March 2020":                        "",
		"12 listopada 2020":                    "2020-11-12",
		"may 100 people come 2020":             "", // a word in between
		"":                                     "",
		"99999999999999999999 March 2020":      "",
		"١٢ مارس 2020":                         "",
	} {
		got := ""
		if d, err := new(dateparser.Parser).Parse(nil, text); err == nil {
			got = d.Time.Format("2006-01-02")
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("12 March 2020 年")
	f.Add("1MAY10000")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := new(dateparser.Parser).Parse(nil, text)
		if y := d.Time.Year(); err == nil && (y < 1000 || y > 9999) {
			t.Errorf("%q: year %d", text, y)
		}
	})
}
