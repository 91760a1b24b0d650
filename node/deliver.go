package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"octopus/crawl"
)

// pause is how long the sender of the outputs may take to deliver what is
// committed when a crawl ends.
const pause = time.Minute

// runAll runs the engine and the sender of the outputs side by side; the sender
// ends after it has delivered what the engine committed, or could not within
// pause. An outbox that cannot be read ends the crawl.
func (n *Node) runAll(ctx context.Context, engine *crawl.Engine) error {
	if n.outbox == nil {
		return engine.Run(ctx)
	}
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	flush, cut := context.WithCancel(ctx)
	defer cut()
	sent := make(chan error, 1)
	go func() {
		err := n.outbox.Run(sending)
		engine.Drain()
		cut()
		sent <- err
	}()
	err := engine.Run(ctx)
	n.closing.Store(true)
	flush, cancel := context.WithTimeout(flush, pause)
	defer cancel()
	_ = n.outbox.Flush(flush) // the summary tells what is left
	n.closing.Store(false)
	stop()
	if e := <-sent; e != nil && !errors.Is(e, context.Canceled) {
		err = errors.Join(err, e)
	}
	return err
}

// outputStatus adds to a status how far the outputs are.
func (n *Node) outputStatus(st *Status) {
	if n.outbox == nil {
		return
	}
	st.Outputs = n.outbox.Status()
	for i, o := range st.Outputs {
		st.Outputs[i].Error = Redact(o.Error)
	}
	if full, ok := n.outbox.Full(); ok {
		st.Waiting = fmt.Sprintf("paused: output %s has %d records to catch up, --max-pending is %d%s", full.Name, full.Pending, n.cfg.Store.MaxPending, because(full.Error))
	}
	if n.closing.Load() {
		st.Waiting = "for the outputs: " + lacking(st)
	}
}

// undelivered says in a summary which outputs lack records.
func (s *Summary) undelivered() {
	if s.Lack = lacking(&s.Status); s.Lack == "" {
		return
	}
	if s.Dir != "" {
		s.Lack += "; they wait in " + s.Dir + ", the same command delivers them"
	}
}

// lacking names the outputs that do not have all records.
func lacking(st *Status) string {
	var texts []string
	for _, o := range st.Outputs {
		if o.Pending > 0 {
			texts = append(texts, fmt.Sprintf("%s has %d records to come%s", o.Name, o.Pending, because(o.Error)))
		}
	}
	return strings.Join(texts, "; ")
}

func because(err string) string {
	if err == "" {
		return ""
	}
	return " (" + Redact(err) + ")"
}
