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
same entry page (http://HOST/ or https://HOST/). To crawl but one of them,
reject the others: octopus crawl --reject, or the rejectPatterns of a board.`}
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
		if h.Address.IsValid() {
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
