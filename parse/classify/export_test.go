package classify

import "testing"

// Table counts labels against answers.
type Table = table

// Add counts a page.
func (c *table) Add(data, says bool) { c.add(data, says) }

// Macro is the macro F1.
func (c *table) Macro() float64 { return c.macro() }

// Unseen visits each labelled page while the weights in force are those of
// training without its site.
func Unseen(t *testing.T, splits int, visit func(set, url string, body []byte, data bool)) {
	shipped := trained
	defer func() { trained = shipped }()
	unseen(examples(t), splits, func(m model, e example) {
		trained = m
		visit(e.set, e.url, gunzip(t, shared+e.file), e.data)
	})
}
