package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"octopus/dns"
)

// dnsCmd offers the crawler's resolver to other programs.
func (a *app) dnsCmd() *cobra.Command {
	var listen string
	var public bool
	cmd := &cobra.Command{Use: "dns", Short: "Serve DNS from a cache, for the crawlers of this machine", Args: cobra.NoArgs,
		Long: `Answer A and AAAA questions, over UDP and TCP, until Ctrl-C. What the servers of
--resolver (else the system's) say is kept for as long as they allow, names that
do not exist included, and a name that many ask for is asked once. The address
must be a loopback one unless --public is given: an open resolver helps those
who flood others.`,
		Example: `  octopus dns --listen 127.0.0.1:5353
  octopus crawl https://example.com/ --resolver 127.0.0.1:5353`}
	flags := addFlags(cmd, "fetcher.resolver")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:5353", "`ADDRESS:PORT`; port 0 takes a free one")
	cmd.Flags().BoolVar(&public, "public", false, "allow an address that other machines reach")
	cmd.RunE = a.withSettings(flags, func(l *loaded, _ []string) error {
		if err := checkListen(listen, public, "other machines could use the resolver"); err != nil {
			return usage(err)
		}
		return a.serveDNS(dns.NewServer(listen, dns.New(dns.Options{Servers: l.Fetcher.Resolver})))
	})
	return cmd
}

// serveDNS serves until a signal.
func (a *app) serveDNS(s *dns.Server) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 1)
	defer a.notify(signals)()
	go func() {
		select {
		case <-signals:
			stop()
		case <-ctx.Done():
		}
	}()
	return s.Run(ctx, func(address net.Addr) { fmt.Fprintln(a.stdout, address) })
}
