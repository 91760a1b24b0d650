package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"octopus/container"
	"octopus/container/cdxserver"
)

// storeServeCmd answers replay tools.
func (a *app) storeServeCmd() *cobra.Command {
	var listen string
	var public bool
	cmd := &cobra.Command{Use: "serve", Short: "Serve index and pages over HTTP, as archives do: /cdx and /web/{timestamp}id_/{url}", Args: cobra.NoArgs,
		Long: `Serve the store to replay tools until Ctrl-C. /cdx answers queries of the index
with parameters of pywb's CDX server; /web/{timestamp}id_/{url} answers with
the version nearest to the time. Everybody who reaches the address can read all
pages, so it must be a loopback address unless --public is given; without it
requests for other host names are refused too.`}
	flags := addFlags(cmd, "dir")
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8070", "`ADDRESS:PORT`; port 0 takes a free one")
	f.BoolVar(&public, "public", false, "allow an address that other machines reach")
	cmd.RunE = a.verb(func(*cobra.Command, []string) error {
		if err := checkListen(listen, public, "other machines could read all pages"); err != nil {
			return usage(err)
		}
		return a.withPages(flags, false, func(c *container.Container) error { return a.serveStore(c, listen, !public) })
	})
	return cmd
}

// checkListen refuses an address that is not loopback, unless public; danger says
// why.
func checkListen(listen string, public bool, danger string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen: %w; write ADDRESS:PORT", err)
	}
	if !public && !isLoopback(host) {
		return fmt.Errorf("--listen %s: %s; say --public if they may", listen, danger)
	}
	return nil
}

// serveStore serves until a signal.
func (a *app) serveStore(c *container.Container, listen string, local bool) error {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	h := cdxserver.New(c, cdxserver.Options{Local: local})
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	signals := make(chan os.Signal, 1)
	defer a.notify(signals)()
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	fmt.Fprintf(a.stdout, "http://%s/cdx?url=*\n", ln.Addr())
	select {
	case err = <-done:
	case <-signals:
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err = srv.Shutdown(ctx); err != nil {
			err = srv.Close() // a slow reader does not keep the store open
		}
		<-done
	}
	return errors.Join(err, h.Close())
}
