package sqlitelog

import "encoding/binary"

// carve calls found with each place of a page where a cell of an event begins, and
// whether the page itself names that place. It trusts a page that is sound in every
// respect; any other it searches byte by byte, for a page that lost its head or some
// of its pointers may have whole cells.
func carve(page []byte, found func(at int, seq int64, named bool)) {
	named, sound := pointers(page)
	if sound {
		for _, at := range named {
			c, _ := parseCell(page, at)
			found(at, c.seq, true)
		}
		return
	}
	isNamed := map[int]bool{}
	for _, at := range named {
		isNamed[at] = true
	}
	for h := 2; h+minHeader <= len(page); h++ {
		// A record of an event begins with its header's length, the type NULL for seq
		// and two types of integers.
		if page[h+1] != 0 || page[h] < minHeader || page[h] > maxHeader+1 || !isInt(uint64(page[h+2])) || !isInt(uint64(page[h+3])) {
			continue
		}
		for at := h - 2; at >= max(0, h-reach); at-- {
			if c, ok := parseCell(page, at); ok && c.header == h {
				found(at, c.seq, isNamed[at])
			}
		}
	}
}

// pointers are the places that a leaf names as those of cells. The leaf is sound
// where all of them are cells of events, which fill its lower end to the byte.
func pointers(page []byte) (places []int, sound bool) {
	const head = 8
	if len(page) < pageSize || page[0] != tableLeaf {
		return nil, false
	}
	n := int(binary.BigEndian.Uint16(page[3:]))
	content := int(binary.BigEndian.Uint16(page[5:]))
	if n == 0 || head+2*n > pageSize {
		return nil, false
	}
	sound = head+2*n <= content
	total, lowest := 0, pageSize
	for i := range n {
		at := int(binary.BigEndian.Uint16(page[head+2*i:]))
		if at < head || at >= pageSize {
			sound = false
			continue
		}
		c, ok := parseCell(page, at)
		if !ok {
			sound = false
			continue
		}
		places = append(places, at)
		total, lowest = total+c.length, min(lowest, at)
	}
	return places, sound && lowest == content && total == pageSize-content
}
