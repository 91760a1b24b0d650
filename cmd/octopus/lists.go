package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/frontier"
	"octopus/kv"
	"octopus/node"
)

// badCmd shows and retries the URLs that failed for good.
func (a *app) badCmd() *cobra.Command {
	return group("bad", "List or retry URLs that failed for good", "",
		a.listCmd("ls", "List URLs that failed for good, with the reason", frontier.ListBad),
		a.reviveCmd("retry", "Queue bad URLs again; the next crawl fetches them", frontier.ListBad))
}

// parkedCmd shows and revives the URLs that were set aside.
func (a *app) parkedCmd() *cobra.Command {
	return group("parked", "List or revive URLs that were set aside, with the reason", "",
		a.listCmd("ls", "List URLs that were set aside, with the reason", frontier.ListParked),
		a.reviveCmd("revive", "Queue parked URLs again; robots.txt is asked again when their turn comes", frontier.ListParked))
}

// queueCmd works on the queues of the frontier, and on that of the outputs.
func (a *app) queueCmd() *cobra.Command {
	return group("queue", "List, drop or clear what is queued; inspect the queue of the outputs", "",
		a.listCmd("ls", "List what is queued, host by host, in the order of dispatch", frontier.ListQueued),
		a.queueDropCmd(), a.clearNavCmd(), a.queueInspectCmd())
}

// listCmd prints one list of the frontier.
func (a *app) listCmd(name, short string, list frontier.List) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs}
	var filter filterFlags
	var p lister
	var lane string
	filter.add(cmd, list != frontier.ListQueued)
	p.add(cmd)
	if list == frontier.ListQueued {
		cmd.Flags().StringVar(&lane, "lane", "", "only this `LANE`: nav or data")
	}
	return a.frontierVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error {
		if err := oneOf("--lane", lane, "", octopus.Nav.String(), octopus.Data.String()); err != nil {
			return err
		}
		f, err := filter.filter()
		if err != nil {
			return err
		}
		return a.list(ctx, n.Frontier(), list, f, lane, &p)
	})
}

func (a *app) list(ctx context.Context, f *frontier.Frontier, list frontier.List, filter frontier.Filter, lane string, p *lister) error {
	p.out = newJSONLines(a.stdout)
	err := f.Walk(ctx, list, filter, func(i frontier.Item) error {
		if lane != "" && i.Lane.String() != lane {
			return nil
		}
		if p.full() {
			return kv.ErrStop
		}
		if list == frontier.ListQueued {
			return p.print(itemOf(i), "%s\t%s\tdepth %d", i.URL, i.Lane, i.Depth)
		}
		return p.print(itemOf(i), "%s\t%s\t%s", i.URL, i.Reason, printable(i.Detail))
	})
	if err = errors.Join(err, p.out.w.Flush()); err == nil && list == frontier.ListParked && filter == (frontier.Filter{}) && !p.full() {
		a.noteCleared(f.Counts().Parked - p.shown)
	}
	return err
}

// noteCleared tells of URLs that count as parked and stand in no list.
func (a *app) noteCleared(n int64) {
	if n > 0 {
		a.note("note: %s more were cleared from the queue (queue clear-nav); a page or an entry that names them queues them again", grouped(n))
	}
}

// changed is what the verbs that change a list print with --json.
type changed struct {
	Changed int64 `json:"changed"` // URLs
}

// reviveCmd queues URLs of a list again.
func (a *app) reviveCmd(name, short string, list frontier.List) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs}
	var filter filterFlags
	var asJSON bool
	filter.add(cmd, true)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return a.frontierVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error {
		f, err := filter.filter()
		if err != nil {
			return err
		}
		count, err := n.Frontier().Revive(ctx, list, f)
		if err != nil {
			return err
		}
		if list == frontier.ListParked && f == (frontier.Filter{}) {
			a.noteCleared(n.Frontier().Counts().Parked)
		}
		return a.report(changed{int64(count)}, asJSON, "%s URLs queued again; octopus crawl goes on\n", grouped(int64(count)))
	})
}

func (a *app) queueDropCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "drop", Short: "Take URLs out of the queue; they are parked with the reason \"dropped\"", Args: cobra.NoArgs,
		Example: "  octopus queue drop --match '/calendar/' --preview\n  octopus queue drop --match '/calendar/'"}
	var filter filterFlags
	var p lister
	var preview bool
	filter.add(cmd, false)
	p.add(cmd)
	cmd.Flags().BoolVar(&preview, "preview", false, "list what would go, and change nothing")
	return a.frontierVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error {
		f, err := filter.filter()
		if err != nil {
			return err
		}
		if filter == (filterFlags{}) {
			return usage(errors.New("queue drop of what? name it with --match, --host, --site or --board"))
		}
		if preview {
			return a.list(ctx, n.Frontier(), frontier.ListQueued, f, "", &p)
		}
		count, err := n.Frontier().Drop(ctx, f)
		if err != nil {
			return err
		}
		return a.report(changed{int64(count)}, p.asJSON, "%s URLs dropped; octopus parked revive --reason %s brings them back\n", grouped(int64(count)), frontier.ReasonDropped)
	})
}

func (a *app) clearNavCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "clear-nav", Short: "Empty the queues of navigation pages", Args: cobra.NoArgs,
		Long: `Empty the queues of navigation pages. The URLs stay known, and are queued again
when a page or an entry names them. A crawl that runs offers its entries at
once.`}
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return a.operation(cmd, func(_ []string, do func(node.Operation) (int64, error)) error {
		count, err := do(node.Operation{Verb: node.ClearNav})
		if err != nil {
			return err
		}
		return a.report(changed{count}, asJSON, "%s navigation URLs cleared\n", grouped(count))
	})
}

// outboxView is what queue inspect --json prints.
type outboxView struct {
	Head     int64        `json:"head"`     // number of the first record not delivered everywhere
	Tail     int64        `json:"tail"`     // number the next record gets
	Capacity int64        `json:"capacity"` // 0: no limit
	Records  int64        `json:"records"`  // that wait
	Bytes    int64        `json:"bytes"`    // their sizes
	Sinks    []cursorView `json:"sinks"`
}

type cursorView struct {
	Name    string `json:"name"`
	Next    int64  `json:"next"`    // first record not delivered
	Pending int64  `json:"pending"` // records from there to the end
}

func (a *app) queueInspectCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "inspect", Short: "Tell what waits in the queue (QueueDB) of the outputs, and how far each output is", Args: cobra.NoArgs}
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return a.stateVerb(cmd, func(_ context.Context, n *node.Node, _ []string) error {
		in, err := n.InspectOutbox()
		if err != nil {
			return err
		}
		v := outboxView{in.Queue.Head, in.Queue.Tail, in.Queue.Capacity, in.Records, in.Bytes, []cursorView{}}
		text := fmt.Sprintf("head %d, tail %d, %s records waiting, %s\n", v.Head, v.Tail, grouped(v.Records), bytesText(v.Bytes))
		for _, c := range in.Cursors {
			v.Sinks = append(v.Sinks, cursorView(c))
			text += fmt.Sprintf("%s: next %d, %s to go\n", c.Name, c.Next, grouped(c.Pending))
		}
		return a.report(v, asJSON, "%s", text)
	})
}
