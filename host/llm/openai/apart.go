package openai

import (
	"net/http"

	"github.com/tureen-host/tureen/host/llm"
)

// Some servers, most of them local ones with a strict chat template, refuse two
// messages of users in a row, calls and their results between them or not. Once an
// endpoint has said so, a short answer of ours stands between such two. It is put
// where they meet, so that what was sent before keeps every byte.

// between is that answer.
var between = llm.Text(llm.RoleAssistant, "Understood.")

// meets tells whether a message stands behind one of role last as such a server
// does not like it.
func meets(last, next llm.Role) bool {
	return next == llm.RoleUser && (last == llm.RoleUser || last == llm.RoleTool)
}

var alternationWords = words(`(?i)\broles?\b.{0,40}\balternat|\balternat\w*\b.{0,40}\broles?\b|(multiple|consecutive)\W+(user|assistant)\W+(roles|messages)`)

// namesAlternation tells that the endpoint wants users and assistants in turn. A
// template that fails is the server's fault to some, so that they say 500.
func (r *refusal) namesAlternation() bool {
	switch r.reply.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return alternationWords.MatchString(r.reply.all)
	}
	return false
}

// setApart keeps users apart from now on; what is encoded already is forgotten.
func (e *encoder) setApart() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.apart {
		e.apart, e.lineages, e.cached = true, nil, 0
	}
}
