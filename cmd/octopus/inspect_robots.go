package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"octopus/robots"
)

// robotsAnswer tells what a robots.txt says to one crawler about one URL.
type robotsAnswer struct {
	Robots string `json:"robots"` // the text from standard input, or the file's name
	Agent  string `json:"agent"`
	URL    string `json:"url"`

	Allowed    bool     `json:"allowed"`
	Line       int      `json:"line"`        // of the rule that decided, from 1; 0 where none did
	Rule       string   `json:"rule"`        // that rule; empty where none matched
	CrawlDelay *float64 `json:"crawl_delay"` // seconds; null where the file asks for none
}

func (a *app) inspectRobotsCmd() *cobra.Command {
	var agent string
	cmd := &cobra.Command{Use: "robots --agent NAME FILE URL...", Short: "What a robots.txt says to a crawler about URLs",
		Long: `What a robots.txt says to a crawler about URLs, one JSON line each: allowed or
not, the rule that decides with its line, and the crawl delay in seconds.

URLs are compared as they are given. With - as the only argument it reads JSON
lines {"robots":TEXT,"agent":…,"url":…} from standard input.`}
	cmd.Flags().StringVar(&agent, "agent", "octopus", "product token of the crawler, or its whole User-Agent")
	cmd.RunE = a.verb(func(_ *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] == "-" {
			return stream(a.stdin, a.stdout, func(line []byte) any {
				in := struct{ Robots, Agent, URL string }{Agent: agent}
				if bad := decodeLine(line, &in); bad != nil {
					return bad
				}
				return inspectRobots(robots.Parse([]byte(in.Robots)), in.Robots, in.Agent, in.URL)
			})
		}
		if len(args) < 2 {
			return usage(fmt.Errorf("name a robots.txt file and at least one URL, or - for JSON lines"))
		}
		text, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		file, out := robots.Parse(text), newJSONLines(a.stdout)
		for _, url := range args[1:] {
			if err := out.encode(inspectRobots(file, args[0], agent, url)); err != nil {
				return err
			}
		}
		return out.w.Flush()
	})
	return cmd
}

func inspectRobots(file *robots.File, name, agent, url string) robotsAnswer {
	token := agent
	if strings.Contains(agent, "/") {
		token = robots.Token(agent)
	}
	group := file.For(token)
	v := group.Check(url)
	ans := robotsAnswer{Robots: name, Agent: agent, URL: url, Allowed: v.Allowed, Line: v.Line, Rule: v.Rule}
	if gap, ok := group.CrawlDelay(); ok {
		s := gap.Seconds()
		ans.CrawlDelay = &s
	}
	return ans
}
