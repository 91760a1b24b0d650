package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"octopus/dns"
	"octopus/internal/webtest"
)

// TestDNS asks the service for a name of the synthetic web.
func TestDNS(t *testing.T) {
	newCLI(t).run("dns", "--listen", "0.0.0.0:0").want(exitUsage, "other machines could use the resolver; say --public")
	web := webtest.New(webtest.Options{Hosts: 2, Pages: 2})
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	defer web.Close()

	in, out := io.Pipe()
	stop, code := make(chan chan<- os.Signal, 1), make(chan int, 1)
	a := newApp(strings.NewReader(""), out, io.Discard, nil)
	a.notify = func(ch chan<- os.Signal) func() { stop <- ch; return func() {} }
	go func() { code <- a.main([]string{"dns", "--listen", "127.0.0.1:0", "--resolver", web.ResolverAddr()}) }()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	r := dns.New(dns.Options{Servers: []string{strings.TrimSpace(line)}, Hosts: "-"})
	host := web.Hosts()[0]
	if addrs, err := r.LookupNetIP(t.Context(), host); err != nil || len(addrs) != 1 || !addrs[0].IsLoopback() {
		t.Errorf("%s: %v, %v", host, addrs, err)
	}
	(<-stop) <- os.Interrupt
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d", got)
	}
}
