package chat

import "strings"

// starts are the pieces at which the rows of at most width columns begin: behind a
// line break, at a word where there is one, else within it.
func (e *editor) starts(width int) []int {
	starts, used, word := []int{0}, 0, -1
	for i, p := range e.pieces {
		if p.text == "\n" {
			starts, used, word = append(starts, i+1), 0, -1
			continue
		}
		w := p.cells(width)
		if used+w > width && used > 0 {
			at := i
			if word > starts[len(starts)-1] && !e.isSpace(i) && e.span(word, i, width)+w <= width {
				at = word
			}
			starts, used, word = append(starts, at), e.span(at, i, width), -1
		}
		if used += w; e.isSpace(i) {
			word = i + 1
		}
	}
	return starts
}

// cells is the number of columns of a piece, at most width.
func (p piece) cells(width int) int { return min(cells(p.String()), width) }

// span is the number of columns from piece a to piece b.
func (e *editor) span(a, b, width int) (n int) {
	for _, p := range e.pieces[a:b] {
		n += p.cells(width)
	}
	return n
}

// rows is the text in rows of at most width columns, at most height of them around
// the cursor, and where the cursor stands in them: behind a full row in column width.
func (e *editor) rows(width, height int) (rows []string, x, y int) {
	width = max(width, 2)
	starts := e.starts(width)
	for i, from := range starts {
		if from <= e.at {
			x, y = e.span(from, e.at, width), i
		}
		to := len(e.pieces)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		var row strings.Builder
		for _, p := range e.pieces[from:to] {
			if p.text != "\n" {
				row.WriteString(fit(p.String(), width))
			}
		}
		rows = append(rows, row.String())
	}
	if len(rows) > height {
		from := min(max(0, y-height+1), len(rows)-height)
		rows, y = rows[from:from+height], y-from
	}
	return rows, x, y
}
