package node

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration written as "90s", "1h30m" or "7d".
type Duration time.Duration

// UnmarshalText reads what time.ParseDuration reads, and days: "7d", "1d12h".
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	days, rest, found := strings.Cut(s, "d")
	if !found {
		days, rest = "0", s
	}
	n, err := strconv.ParseFloat(days, 64)
	var v time.Duration
	if err == nil && rest != "" {
		v, err = time.ParseDuration(rest)
	}
	if err != nil || s == "" || !(math.Abs(n) <= 36500) || v.Abs() > 36500*24*time.Hour { // NaN is not
		return fmt.Errorf("%q is no duration; write it like 500ms, 90s, 2h or 7d", s)
	}
	*d = Duration(v + time.Duration(n*float64(24*time.Hour)))
	return nil
}

// MarshalText writes the duration so that UnmarshalText reads it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the duration as time.Duration writes it, without zero units.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Period is a pause between visits: a fixed one, or one that adapts between two
// bounds. It is written as "30m" or as "10m..2h".
type Period struct{ Min, Max Duration }

// UnmarshalText reads one duration, or two with ".." between them.
func (p *Period) UnmarshalText(text []byte) error {
	low, high, ranged := strings.Cut(string(text), "..")
	if !ranged {
		high = low
	}
	var q Period
	if q.Min.UnmarshalText([]byte(low)) != nil || q.Max.UnmarshalText([]byte(high)) != nil {
		return fmt.Errorf("%q is no period; write it like 30m, or 10m..2h to adapt between the two", text)
	}
	*p = q
	return nil
}

// MarshalText writes the period so that UnmarshalText reads it.
func (p Period) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// String returns the period as UnmarshalText reads it.
func (p Period) String() string {
	if p.Min == p.Max {
		return p.Min.String()
	}
	return p.Min.String() + ".." + p.Max.String()
}

// Size is a number of bytes written as "10MB", "512KiB" or "4096".
type Size int64

var units = []struct {
	name  string
	bytes float64
}{
	{"KIB", 1 << 10}, {"MIB", 1 << 20}, {"GIB", 1 << 30}, {"TIB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// UnmarshalText reads a number and a unit: decimal (KB, MB, GB, TB), binary
// (KiB, MiB, GiB, TiB) or none, which means bytes.
func (s *Size) UnmarshalText(text []byte) error {
	number, factor := strings.ToUpper(strings.TrimSpace(string(text))), 1.0
	for _, u := range units {
		if rest, found := strings.CutSuffix(number, u.name); found {
			number, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0 && v*factor <= math.MaxInt64/2) { // NaN is neither
		return fmt.Errorf("%q is no size; write it like 10MB, 512KiB or 4096", text)
	}
	*s = Size(v * factor)
	return nil
}

// MarshalText writes the size so that UnmarshalText reads the same number.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String writes the size with the largest unit that divides it.
func (s Size) String() string {
	for _, i := range []int{3, 7, 2, 6, 1, 5, 0, 4} {
		u := units[i]
		if n := int64(u.bytes); s != 0 && int64(s)%n == 0 {
			return strconv.FormatInt(int64(s)/n, 10) + strings.Replace(u.name, "IB", "iB", 1)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Rate is a number of bytes per second written as "2Mbit", "500KB" or "4096".
type Rate int64

// UnmarshalText reads what Size reads, or bits per second: Kbit, Mbit, Gbit.
func (r *Rate) UnmarshalText(text []byte) error {
	number := strings.TrimSuffix(strings.TrimSpace(string(text)), "/s")
	bits, isBits := strings.CutSuffix(number, "bit")
	var s Size
	if isBits {
		bits += "B"
	} else {
		bits = number
	}
	if err := s.UnmarshalText([]byte(bits)); err != nil {
		return fmt.Errorf("%q is no rate; write it like 2Mbit, 500KB or 4096", text)
	}
	if isBits {
		s /= 8
	}
	*r = Rate(s)
	return nil
}

// MarshalText writes the rate so that UnmarshalText reads the same number.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String writes the rate in bytes per second.
func (r Rate) String() string { return Size(r).String() }
