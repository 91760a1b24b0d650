package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus/frontier"
	"octopus/node"
)

// doctorCmd tells what holds a crawl up.
func (a *app) doctorCmd() *cobra.Command {
	var asJSON, verify bool
	cmd := &cobra.Command{Use: "doctor", Short: "Tell what holds a crawl up, the hosts that take longest, and whether its state is sound", Args: cobra.NoArgs,
		Long: `Read the state directory --dir of a crawl that does not run, and tell in words
what it waits for, and which hosts take longest. --verify reads all of the
frontier and compares every counter; exit code 10 if one is wrong.`}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.Flags().BoolVar(&verify, "verify", false, "read the whole frontier and check its counters")
	return a.stateVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error {
		d := diagnosis{Slowest: []hostView{}}
		if err := n.Frontier().Hosts(ctx, func(h frontier.HostInfo) error { d.add(h); return nil }); err != nil {
			return err
		}
		d.conclude()
		if err := a.report(d, asJSON, "%s", d.text()); err != nil || !verify {
			return err
		}
		if err := n.Frontier().Close(); err != nil && !errors.Is(err, frontier.ErrClosed) {
			return err
		}
		if err := frontier.Verify(n.Store(), 0); err != nil {
			return &exitError{exitVerify, fmt.Errorf("%w; the state is damaged: start anew with octopus crawl --fresh", err)}
		}
		a.note("verified: every counter is right")
		return nil
	})
}

// maxSlowest is how many of the slowest hosts are kept.
const maxSlowest = 10

// diagnosis is what doctor --json prints.
type diagnosis struct {
	Bottleneck string     `json:"bottleneck"` // in words
	Hosts      int        `json:"hosts"`      // with anything queued
	Blocked    int        `json:"blocked"`    // of these, not asked now
	Queued     int64      `json:"queued"`
	ETA        float64    `json:"eta_s"` // least time until all queues are empty, by the slowest host
	Slowest    []hostView `json:"slowest"`
}

func (d *diagnosis) add(h frontier.HostInfo) {
	queued := h.Nav + h.Data
	if queued == 0 {
		return
	}
	d.Hosts++
	d.Queued += queued
	if h.Blocked > 0 {
		d.Blocked++
	}
	i, _ := slices.BinarySearchFunc(d.Slowest, h.ETA, func(v hostView, eta time.Duration) int {
		if v.ETA >= seconds(eta) {
			return -1
		}
		return 1
	})
	d.Slowest = slices.Insert(d.Slowest, i, hostOf(h))
	d.Slowest = d.Slowest[:min(len(d.Slowest), maxSlowest)]
}

// conclude names the bottleneck.
func (d *diagnosis) conclude() {
	switch {
	case d.Hosts == 0:
		d.Bottleneck = "nothing is queued"
		return
	case d.Blocked == d.Hosts:
		d.Bottleneck = fmt.Sprintf("back-off: all %d hosts with URLs are blocked; octopus host ls --blocked tells why", d.Hosts)
	case d.Hosts < 10:
		d.Bottleneck = fmt.Sprintf("politeness of few hosts: %d hosts hold %s URLs, and each is asked once in its gap", d.Hosts, grouped(d.Queued))
	default:
		d.Bottleneck = fmt.Sprintf("none in the queues: %s URLs of %d hosts wait, %d of these blocked; concurrency, network or sites set the pace", grouped(d.Queued), d.Hosts, d.Blocked)
	}
	d.ETA = d.Slowest[0].ETA
}

func (d *diagnosis) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bottleneck  %s\n", d.Bottleneck)
	for _, h := range d.Slowest {
		fmt.Fprintf(&b, "host        %s: %s queued, gap %gs, at least %s", h.Host, grouped(h.Nav+h.Data), h.Gap, short(time.Duration(h.ETA*float64(time.Second))))
		if h.Why != "" {
			fmt.Fprintf(&b, ", blocked: %s", h.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
