package container_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"octopus"
	"octopus/canon"
	"octopus/container"
)

func Example() {
	dir, err := os.MkdirTemp("", "pages")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	c, err := container.Open(container.Options{Dir: dir})
	if err != nil {
		panic(err)
	}
	defer c.Close()

	u, _ := canon.Parse("http://example.com/")
	ctx := context.Background()
	for i, text := range []string{"first", "second", "second"} {
		_, err := c.Put(ctx, container.Entry{Page: &octopus.Page{
			Lease:  octopus.Lease{Link: octopus.Link{URL: u}},
			Start:  time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC),
			Status: 200,
			Header: http.Header{"Content-Type": {"text/plain"}},
			Body:   []byte(text),
		}})
		if err != nil {
			panic(err)
		}
	}
	page, err := c.Get(ctx, u)
	if err != nil {
		panic(err)
	}
	fmt.Println(page.Status, string(page.Body))
	versions, err := c.Versions(ctx, u)
	if err != nil {
		panic(err)
	}
	for _, v := range versions {
		fmt.Println(v.Time.Format("2006-01-02"), v.Kind)
	}
	// Output:
	// 200 second
	// 2026-01-03 same
	// 2026-01-02 full
	// 2026-01-01 full
}
