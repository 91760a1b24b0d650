package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus/frontier"
	"octopus/node"
)

// doctorCmd tells what holds a crawl up.
func (a *app) doctorCmd() *cobra.Command {
	var asJSON, verify bool
	cmd := &cobra.Command{Use: "doctor", Short: "Tell what holds a crawl up, and whether its state is sound", Args: cobra.NoArgs,
		Long: `Tell in words what the crawl in the state directory --dir waits for, and which
hosts take longest. One that runs is watched for two seconds. --verify reads all
of the frontier of one that does not, and compares every counter; exit code 10
if one is wrong.`}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.Flags().BoolVar(&verify, "verify", false, "read the whole frontier and check its counters")
	flags := addFlags(cmd, "dir")
	cmd.RunE = a.withSettings(flags, func(l *loaded, _ []string) error {
		if !verify {
			d, err := node.AskDiagnosis(context.Background(), l.Dir)
			if err == nil {
				return a.reportDiagnosis(d, asJSON)
			}
			if !errors.Is(err, node.ErrNotRunning) {
				return err
			}
		}
		n, err := a.openState(l)
		if err != nil {
			return err
		}
		return errors.Join(a.examine(n, asJSON, verify), n.Close())
	})
	return cmd
}

// examine looks at the state of a crawl that does not run.
func (a *app) examine(n *node.Node, asJSON, verify bool) error {
	if n.Frontier() == nil {
		return node.ErrSharedFrontier
	}
	d, err := n.Diagnose(context.Background())
	if err != nil {
		return err
	}
	if err := a.reportDiagnosis(d, asJSON); err != nil || !verify {
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
}

// diagnosis is what doctor --json prints.
type diagnosis struct {
	Bottleneck string     `json:"bottleneck"`     // in words
	Load       *node.Load `json:"load,omitempty"` // of a crawl that runs
	Hosts      int        `json:"hosts"`          // with anything queued
	Blocked    int        `json:"blocked"`        // of these, not asked now
	Queued     int64      `json:"queued"`
	ETA        float64    `json:"eta_s"` // least time until all queues are empty, by the slowest host
	Slowest    []hostView `json:"slowest"`
}

// reportDiagnosis prints it.
func (a *app) reportDiagnosis(d node.Diagnosis, asJSON bool) error {
	v := diagnosis{Bottleneck: d.Bottleneck(), Load: d.Load, Hosts: d.Hosts, Blocked: d.Blocked, Queued: d.Queued, Slowest: []hostView{}}
	for _, h := range d.Slowest {
		v.Slowest = append(v.Slowest, hostOf(h))
	}
	if len(v.Slowest) > 0 {
		v.ETA = v.Slowest[0].ETA
	}
	return a.report(v, asJSON, "%s", v.text())
}

func (d diagnosis) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bottleneck  %s\n", d.Bottleneck)
	if l := d.Load; l != nil {
		fmt.Fprintf(&b, "running     %.1f requests/s, %.0f KB/s, %d of %d requests under way, CPU %.0f %%\n",
			float64(l.Requests)/l.Seconds, float64(l.Bytes)/1e3/l.Seconds, l.InFlight, l.Concurrency, 100*l.CPU)
	}
	if d.Load != nil {
		for _, o := range d.Load.Outputs {
			fmt.Fprintf(&b, "output      %s: %s to come", o.Name, counted(o.Pending, "record"))
			if o.Error != "" {
				fmt.Fprintf(&b, ", %s", printable(o.Error))
			}
			b.WriteByte('\n')
		}
	}
	for _, h := range d.Slowest {
		fmt.Fprintf(&b, "host        %s: %s queued, gap %gs, at least %s", h.Host, grouped(h.Nav+h.Data), h.Gap, short(time.Duration(h.ETA*float64(time.Second))))
		if h.Why != "" {
			fmt.Fprintf(&b, ", blocked: %s", h.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
