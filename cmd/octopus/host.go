package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"octopus/frontier"
	"octopus/kv"
	"octopus/node"
)

// hostCmd shows hosts, and blocks or frees them.
func (a *app) hostCmd() *cobra.Command {
	return group("host", "List, show, block, order and merge hosts", "",
		a.hostLsCmd(), a.hostShowCmd(), a.hostBlockCmd(), a.hostUnblockCmd(), a.hostPrecedenceCmd(), a.hostAliasesCmd(),
		a.hostMergeCmd(), a.hostUnmergeCmd())
}

// hostView is what host ls --json and host show --json print.
type hostView struct {
	Host    string  `json:"host"`
	Site    string  `json:"site"`
	Known   int64   `json:"known"`
	Nav     int64   `json:"nav"`   // queued
	Data    int64   `json:"data"`  // queued
	Later   int64   `json:"later"` // not before a time: retry, refresh
	Done    int64   `json:"done"`
	Parked  int64   `json:"parked"`
	Failed  int64   `json:"failed"`
	Rank    int8    `json:"precedence,omitempty"`
	Address string  `json:"address,omitempty"` // that answered last
	Gap     float64 `json:"gap_s"`
	Blocked float64 `json:"blocked_s"` // 0: it may be asked
	Why     string  `json:"why,omitempty"`
	ETA     float64 `json:"eta_s"` // least time until its queue is empty
	AliasOf string  `json:"alias_of,omitempty"`
}

func hostOf(h frontier.HostInfo) hostView {
	v := hostView{Host: h.Name, Site: h.Site, Known: h.Known, Nav: h.Nav, Data: h.Data, Later: h.Later, Done: h.Done, Parked: h.Parked,
		Failed: h.Failed, Rank: h.Precedence, Gap: h.Gap.Seconds(), Blocked: seconds(h.Blocked), Why: h.Why, ETA: seconds(h.ETA), AliasOf: h.AliasOf}
	if h.Address.IsValid() {
		v.Address = h.Address.String()
	}
	return v
}

// hostLine tells a host in one line.
func hostLine(h frontier.HostInfo) string {
	s := fmt.Sprintf("%s\tknown %d, queued %d, done %d, parked %d, failed %d\tgap %s", h.Name, h.Known, h.Nav+h.Data, h.Done, h.Parked, h.Failed, h.Gap)
	if h.AliasOf != "" {
		s += "\talias of " + h.AliasOf
	}
	if h.ETA > 0 {
		s += "\teta " + short(h.ETA)
	}
	if h.Blocked > 0 {
		s += fmt.Sprintf("\tblocked for %s: %s", short(h.Blocked), h.Why)
	}
	return s
}

func (a *app) hostLsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "ls", Short: "List hosts with their counters, gap and blocks", Args: cobra.NoArgs}
	var p lister
	var blocked bool
	var match string
	p.add(cmd)
	cmd.Flags().BoolVar(&blocked, "blocked", false, "only hosts that are not asked now")
	cmd.Flags().StringVar(&match, "match", "", "only hosts whose name contains this `TEXT`")
	return a.frontierVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error {
		p.out = newJSONLines(a.stdout)
		err := n.Frontier().Hosts(ctx, func(h frontier.HostInfo) error {
			switch {
			case blocked && h.Blocked == 0, !strings.Contains(h.Name, match):
				return nil
			case p.full():
				return kv.ErrStop
			}
			return p.print(hostOf(h), "%s", hostLine(h))
		})
		return errors.Join(err, p.out.w.Flush())
	})
}

func (a *app) hostShowCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "show HOST", Short: "Show what is known of a host", Args: cobra.ExactArgs(1)}
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return a.frontierVerb(cmd, func(ctx context.Context, n *node.Node, args []string) error {
		u, err := hostURL(args[0])
		if err != nil {
			return usage(err)
		}
		h, ok, err := n.Frontier().Host(ctx, u)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s: no such host in this crawl; octopus host ls lists them", u.Host)
		}
		return a.report(hostOf(h), asJSON, "%s\n", hostText(h))
	})
}

// hostText tells a host in lines.
func hostText(h frontier.HostInfo) string {
	s := fmt.Sprintf("host     %s\nsite     %s\nURLs     %d known: %d queued (%d nav, %d data), %d later, %d done, %d parked, %d failed\ngap      %s",
		h.Name, h.Site, h.Known, h.Nav+h.Data, h.Nav, h.Data, h.Later, h.Done, h.Parked, h.Failed, h.Gap)
	if h.Precedence != 0 {
		s += fmt.Sprintf("\nprecedence %d", h.Precedence)
	}
	if h.Address.IsValid() {
		s += "\naddress  " + h.Address.String()
	}
	if h.AliasOf != "" {
		s += "\nalias of " + h.AliasOf
	}
	if h.Blocked > 0 {
		s += fmt.Sprintf("\nblocked  for %s: %s", short(h.Blocked), h.Why)
	}
	if h.ETA > 0 {
		s += "\neta      at least " + short(h.ETA)
	}
	return s
}

func (a *app) hostBlockCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "block HOST", Short: "Ask nothing of a host for a while", Args: cobra.ExactArgs(1), Example: "  octopus host block example.com --for 1h"}
	duration := node.Duration(time.Hour)
	cmd.Flags().TextVar(&duration, "for", duration, "for so long, like 90s, 2h or 7d")
	return a.operation(cmd, func(args []string, do func(node.Operation) (int64, error)) error {
		if duration <= 0 {
			return usage(fmt.Errorf("--for %s: must be positive; octopus host unblock lets a host go", duration))
		}
		until := time.Now().Add(time.Duration(duration))
		if err := block(args[0], until, do); err != nil {
			return err
		}
		a.note("%s is blocked until %s", args[0], until.Format(time.RFC3339))
		return nil
	})
}

func (a *app) hostUnblockCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "unblock HOST", Short: "Let a host go again, whatever blocked it", Args: cobra.ExactArgs(1)}
	return a.operation(cmd, func(args []string, do func(node.Operation) (int64, error)) error {
		if err := block(args[0], time.Time{}, do); err != nil {
			return err
		}
		a.note("%s may be asked again", args[0])
		return nil
	})
}

func (a *app) hostPrecedenceCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "precedence HOST", Short: "Have a host go before others that may be asked, or after them", Args: cobra.ExactArgs(1), Example: "  octopus host precedence example.com --to -1"}
	var to int8
	cmd.Flags().Int8Var(&to, "to", 0, "precedence from -128 to 127; smaller goes first, 0 is what every host has")
	return a.operation(cmd, func(args []string, do func(node.Operation) (int64, error)) error {
		u, err := hostURL(args[0])
		if err != nil {
			return usage(err)
		}
		if _, err := do(node.Operation{Verb: node.RankHost, Host: u.Host, Precedence: to}); err != nil {
			return err
		}
		a.note("%s has precedence %d", u.Host, to)
		return nil
	})
}

func block(name string, until time.Time, do func(node.Operation) (int64, error)) error {
	u, err := hostURL(name)
	if err != nil {
		return usage(err)
	}
	_, err = do(node.Operation{Verb: node.BlockHost, Host: u.Host, Until: until})
	return err
}
