package chat

const maxHistory = 200

// history is what the person sent, oldest first, and where Up has come to.
type history struct {
	entries []string
	at      int    // len(entries) = below the newest: what is being typed
	draft   string // what was being typed when Up was pressed first
}

func (h *history) add(text string) {
	if n := len(h.entries); n == 0 || h.entries[n-1] != text {
		h.entries = append(h.entries, text)
	}
	if n := len(h.entries) - maxHistory; n > 0 {
		h.entries = h.entries[n:]
	}
	h.at = len(h.entries)
}

// older is the entry before the one that is shown; current is what is shown.
func (h *history) older(current string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.entries) {
		h.draft = current
	}
	h.at--
	return h.entries[h.at], true
}

// newer goes the other way, down to the draft.
func (h *history) newer() (string, bool) {
	if h.at >= len(h.entries) {
		return "", false
	}
	if h.at++; h.at == len(h.entries) {
		return h.draft, true
	}
	return h.entries[h.at], true
}
