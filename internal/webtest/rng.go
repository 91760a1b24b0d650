package webtest

import "math"

// rng is SplitMix64: small, fast, and the same on every machine.
type rng uint64

// newRng mixes its arguments into a state.
func newRng(parts ...uint64) *rng {
	r := rng(0x9e3779b97f4a7c15)
	for _, p := range parts {
		r = rng(uint64(r)*0xff51afd7ed558ccd ^ p)
		r.next()
	}
	return &r
}

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// intn returns a number from 0 to n-1.
func (r *rng) intn(n int) int { return int(r.next() % uint64(n)) }

// float returns a number in (0, 1].
func (r *rng) float() float64 { return float64(r.next()>>11+1) / (1 << 53) }

// logNormal returns a number with this mean and a sigma of 0.5.
func (r *rng) logNormal(mean float64) float64 {
	const sigma = 0.5
	normal := math.Sqrt(-2*math.Log(r.float())) * math.Cos(2*math.Pi*r.float())
	return mean * math.Exp(sigma*normal-sigma*sigma/2)
}

// power returns a number from 0 to n-1, small ones far more often.
func (r *rng) power(n int) int {
	f := r.float()
	return int(f * f * f * float64(n) * 0.999999)
}
