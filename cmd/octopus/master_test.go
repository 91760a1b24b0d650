package main

import (
	"testing"

	"octopus"
	"octopus/node"
)

// TestBucketPicker reads the picker's key in every form in which it may stand.
func TestBucketPicker(t *testing.T) {
	for name, text := range map[string]string{
		"dotted":          `master.bucket.picker = "advanced"`,
		"in master":       "[master]\nqueue.limit = 1_000_000\nbucket.count = 64\nbucket.picker = \"advanced\"\nlease = \"2m\"",
		"in bucket":       "[master.bucket]\npicker = \"advanced\"",
		"inline table":    `master = { bucket = { picker = "advanced" } }`,
		"inline, bucket":  `master.bucket = { picker = "advanced", count = 64 }`,
		"below the table": "[master]\n[master.bucket]\npicker = \"advanced\"",
	} {
		c := newCLI(t)
		f := &fake{sum: fetched()}
		c.use(f)
		c.file("octopus.toml", text+"\n")
		c.run("crawl", "http://a.test/", "-q").want(exitOK)
		if f.cfg.Master.Bucket.Picker != "advanced" {
			t.Errorf("%s: the picker is %q", name, f.cfg.Master.Bucket.Picker)
		}
	}
	c := newCLI(t)
	c.file("octopus.toml", "master.bucket.pikcer = \"advanced\"\n")
	c.run("config", "check").want(exitConfig, `octopus.toml:1:1: unknown key "master.bucket.pikcer"; did you mean "master.bucket.picker"?`)
	c.file("octopus.toml", "master.bucket.picker = \"advanced\"\n[master]\nbucket.count = 64\n")
	c.run("config", "check").want(exitConfig, "table [master] was opened already by the dotted line 1")
	c.file("octopus.toml", "master.bucket.picker = \"best\"\n")
	c.run("config", "check").want(exitConfig, `octopus.toml:1:1: master.bucket.picker: is "best"; use hash or advanced`)
}

// TestHintsOfSkipped holds exit code 4 to a hint for what was set aside.
func TestHintsOfSkipped(t *testing.T) {
	for reason, want := range map[string]string{
		octopus.ReasonQuota: "--max-pages-per-host",
		octopus.ReasonTrap:  "--traps off",
		octopus.ReasonDead:  "octopus parked ls --reason dead",
	} {
		var sum node.Summary = skipped(reason)
		newCLI(t).use(&fake{sum: sum}).run("crawl", "http://a.test/").want(exitNothing, reason+" 1", want)
	}
}
