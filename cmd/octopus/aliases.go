package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"octopus"
	"octopus/canon"
	"octopus/frontier"
	"octopus/node"
)

// alias is what host aliases --json prints: hosts that are one.
type alias struct {
	Address string   `json:"address"`
	Digest  string   `json:"digest"` // of the entry page
	Hosts   []string `json:"hosts"`  // sorted
}

func (a *app) hostAliasesCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "aliases", Short: "List hosts that seem to be one: the same address answers with the same entry page", Args: cobra.NoArgs,
		Long: `List hosts that seem to be one: the same address answers for them, and with the
same entry page (http://HOST/ or https://HOST/). octopus host merge has one
of them stand for the others; then they are no longer listed.`}
	var p lister
	p.add(cmd)
	return a.frontierVerb(cmd, func(ctx context.Context, n *node.Node, _ []string) error {
		all, err := aliases(ctx, n.Frontier())
		p.out = newJSONLines(a.stdout)
		for _, same := range all {
			if err != nil || p.full() {
				break
			}
			err = p.print(same, "%s\t%s", same.Address, strings.Join(same.Hosts, " = "))
		}
		return errors.Join(err, p.out.w.Flush())
	})
}

// aliases groups the hosts by address and entry page, in the order of the
// addresses. It keeps the names of all hosts in memory.
func aliases(ctx context.Context, f *frontier.Frontier) (all []alias, err error) {
	byAddress := map[string][]string{}
	err = f.Hosts(ctx, func(h frontier.HostInfo) error {
		if h.Address.IsValid() && h.AliasOf == "" {
			ip := h.Address.String()
			byAddress[ip] = append(byAddress[ip], h.Name)
		}
		return nil
	})
	for ip, hosts := range byAddress {
		if err != nil || len(hosts) < 2 {
			continue
		}
		byDigest := map[string][]string{}
		for _, host := range hosts {
			var digest string
			if digest, err = entryDigest(ctx, f, host); err != nil {
				return nil, err
			}
			byDigest[digest] = append(byDigest[digest], host)
		}
		for digest, same := range byDigest {
			if digest != "" && len(same) > 1 {
				slices.Sort(same)
				all = append(all, alias{ip, digest, same})
			}
		}
	}
	slices.SortFunc(all, func(a, b alias) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), strings.Compare(a.Hosts[0], b.Hosts[0]))
	})
	return all, err
}

// entryDigest returns the digest of a host's entry page, empty where it was not
// fetched.
func entryDigest(ctx context.Context, f *frontier.Frontier, host string) (string, error) {
	for _, scheme := range []string{"https://", "http://"} {
		u, err := canon.Parse(scheme + octopus.HostInURL(host) + "/")
		if err != nil {
			continue // no URL that was crawled
		}
		x, err := f.Explain(ctx, u)
		if err != nil {
			return "", err
		}
		for _, fact := range x.Facts {
			if fact.Name == "digest" {
				return fact.Value, nil
			}
		}
	}
	return "", nil
}

func (a *app) hostMergeCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "merge ALIAS... --into HOST", Short: "Have a host stand for its aliases: links to them are taken for its own", Args: cobra.MinimumNArgs(1),
		Long: `Have a host stand for its aliases from now on. Their queued URLs move to it,
with scheme, port and path as they are (they are parked with the reason
"alias"), and links to them are taken for links to it. What they had fetched
stays.`,
		Example: "  octopus host aliases\n  octopus host merge www.example.com --into example.com --preview\n  octopus host merge www.example.com --into example.com"}
	var into string
	var preview, asJSON bool
	cmd.Flags().StringVar(&into, "into", "", "the `HOST` that stands for them; it must be one that is crawled")
	cmd.Flags().BoolVar(&preview, "preview", false, "count the URLs that would move, and change nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return a.operation(cmd, func(args []string, do func(node.Operation) (int64, error)) error {
		if into == "" {
			return usage(errors.New("host merge into what? name it with --into HOST"))
		}
		hosts, err := hostNames(append([]string{into}, args...))
		if err != nil {
			return err
		}
		var all int64
		for _, alias := range hosts[1:] {
			count, err := do(node.Operation{Verb: node.MergeHost, Host: alias, Into: hosts[0], Preview: preview})
			if err != nil {
				return err
			}
			all += count
		}
		text := "%s queued URLs moved to %s, which stands for %s from now on; octopus host unmerge ends that\n"
		if preview {
			text = "%s queued URLs would move to %s, which would stand for %s\n"
		}
		return a.report(changed{all}, asJSON, text, grouped(all), hosts[0], strings.Join(hosts[1:], ", "))
	})
}

func (a *app) hostUnmergeCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "unmerge ALIAS...", Short: "Have links to aliases be their own again, from now on", Args: cobra.MinimumNArgs(1)}
	return a.operation(cmd, func(args []string, do func(node.Operation) (int64, error)) error {
		hosts, err := hostNames(args)
		if err != nil {
			return err
		}
		for _, alias := range hosts {
			if _, err := do(node.Operation{Verb: node.UnmergeHost, Host: alias}); err != nil {
				return err
			}
			a.note("%[1]s is a host of its own again; octopus parked revive --reason alias --host %[1]s brings back what moved", alias)
		}
		return nil
	})
}

// hostNames returns the names of the hosts that texts name.
func hostNames(texts []string) (names []string, err error) {
	for _, text := range texts {
		u, err := hostURL(text)
		if err != nil {
			return nil, usage(err)
		}
		names = append(names, u.Host)
	}
	return names, nil
}
