package node

import (
	"testing"

	"octopus/frontier"
)

// TestSizeFrontier: what the configuration says of sizes reaches the frontier.
func TestSizeFrontier(t *testing.T) {
	c := DefaultConfig()
	var opt frontier.Options
	c.sizeFrontier(&opt)
	if opt.HostLimit != 0 || opt.LaneWeight != 0 || opt.QueueLimit != 1_000_000 {
		t.Errorf("defaults: %+v", opt)
	}
	c.Memory, c.Master.Queue.DataWeight, c.Limit.PagesPerSite = 256<<20, 3, 9
	c.sizeFrontier(&opt)
	if opt.HostLimit != 32<<10 || opt.IndexBytes != 64<<20 || opt.LaneWeight != 3 || opt.SiteQuota != 9 {
		t.Errorf("256 MB: %d hosts, index of %d bytes, weight %d, quota %d", opt.HostLimit, opt.IndexBytes, opt.LaneWeight, opt.SiteQuota)
	}
}
