package main

import "strings"

// suggest returns the word nearest to what somebody typed, as `; did you mean
// "x"?`, or nothing where none is near. Case, dashes and underscores do not
// count; a word without its section ("hostDelay") finds the whole key, the last
// part of a flag ("--delay") the whole flag.
func suggest(typed string, words []string) string {
	best, least := "", max(1, (len(fold(typed))+2)/3)+1
	for _, w := range words {
		d := min(distance(fold(typed), fold(w)), distance(fold(typed), fold(last(w)))+1)
		if d < least {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return `; did you mean "` + best + `"?`
}

func fold(s string) string { return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s)) }

func last(key string) string { return key[strings.LastIndexAny(key, ".-")+1:] }

// distance is the number of letters to insert, delete or replace that turn a
// into b (Levenshtein); two letters swapped count as one (Damerau, restricted).
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
