package pluginhost

// nearest returns the known name that word was probably meant to be, "" where
// none is near: at most a third of its letters may differ.
func nearest(word string, known []string) string {
	best, bestDistance := "", len(word)/3+1
	for _, k := range known {
		if d := distance(word, k); d <= bestDistance {
			if best == "" || d < bestDistance {
				best, bestDistance = k, d
			}
		}
	}
	return best
}

// distance is the number of single-letter changes from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
