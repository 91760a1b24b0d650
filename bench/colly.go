package main

import (
	"context"
	"crypto/tls"
	"flag"
	"net"
	"net/http"

	"github.com/gocolly/colly/v2"
)

// crawlColly crawls as Colly's documentation shows it: asynchronous, a limit of
// parallel requests, every link visited. Pages are thrown away.
func crawlColly(args []string) error {
	fs := flag.NewFlagSet("colly", flag.ContinueOnError)
	entry := fs.String("url", "", "where to start")
	parallel := fs.Int("parallel", 16, "requests at once")
	resolver := fs.String("resolver", "", "name server, HOST:PORT")
	if err := fs.Parse(args); err != nil {
		return err
	}
	c := colly.NewCollector(colly.Async(true))
	c.WithTransport(collyTransport(*resolver))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: *parallel}); err != nil {
		return err
	}
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		_ = e.Request.Visit(e.Attr("href")) // an error is a page visited before
	})
	if err := c.Visit(*entry); err != nil {
		return err
	}
	c.Wait()
	return nil
}

// collyTransport is http.DefaultTransport, which Colly uses by itself, with
// another name server, any certificate, and no proxy.
func collyTransport(resolver string) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the bench's own server
	if resolver != "" {
		d := &net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", resolver)
		}}}
		t.DialContext = d.DialContext
	}
	return t
}
