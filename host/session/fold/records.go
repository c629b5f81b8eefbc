package fold

import (
	"slices"
	"strings"
)

// RecordsOf lists the events with the records that hold of a plugin, of one kind or,
// for "", of all, oldest first.
func (s *State) RecordsOf(plugin, kind string) []int64 {
	prefix := plugin + "/"
	if kind != "" {
		prefix += kind + "/"
	}
	var seqs []int64
	for key, seq := range s.Records {
		if strings.HasPrefix(key, prefix) {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	return seqs
}
