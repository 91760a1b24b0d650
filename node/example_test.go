package node_test

import (
	"context"
	"fmt"
	"log"

	"octopus/node"
)

// The loop of the README: crawl, and look at each page as it is committed.
func ExampleCrawl() {
	cfg := node.DefaultConfig()
	cfg.UserAgent = "mybot/1.0 (+https://example.org/bot)"
	cfg.Crawl.MaxPages = 100
	for page, err := range node.Crawl(context.Background(), "https://example.com/", cfg) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(page.Status, page.URL, page.Title)
	}
}
