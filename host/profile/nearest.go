package profile

import (
	"fmt"
	"slices"
)

// nearest returns the candidate that is the fewest edits away from word, or ""
// where none shares at least half of it.
func nearest(word string, candidates []string) string {
	best, at := "", len(word)+1
	for _, c := range candidates {
		longest := max(len([]rune(word)), len([]rune(c)))
		if d := distance(word, c); d < at && d <= max(1, longest/2) {
			best, at = c, d
		}
	}
	return best
}

func didYouMean(word string, candidates []string) string {
	if n := nearest(word, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// distance is Levenshtein's.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diagonal := row[0]
		row[0] = i + 1
		for j := range t {
			change := diagonal
			if s[i] != t[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(t)]
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
