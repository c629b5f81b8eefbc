package agent

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// hidden stands where a secret stood.
const hidden = "[secret removed]"

// secrets are values that no event, and so no request, may hold: a tool that
// dumps an environment must not carry a key into the log (M25).
type secrets []string

// newSecrets drops values that are too short to be a key, and adds how a URL has
// the others.
func newSecrets(values []string) secrets {
	var s secrets
	for _, v := range values {
		if len(v) < 8 {
			continue
		}
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v)} {
			if !slices.Contains(s, form) {
				s = append(s, form)
			}
		}
	}
	return s
}

// json takes the secrets out of JSON text.
func (s secrets) json(data []byte) []byte {
	for _, v := range s {
		quoted, err := json.Marshal(v)
		if err != nil {
			continue
		}
		data = replace(replace(data, []byte(v)), quoted[1:len(quoted)-1])
	}
	return data
}

// text takes the secrets out of plain text.
func (s secrets) text(text string) string {
	for _, v := range s {
		text = strings.ReplaceAll(text, v, hidden)
	}
	return text
}

func replace(data, value []byte) []byte {
	if !bytes.Contains(data, value) {
		return data
	}
	return bytes.ReplaceAll(data, value, []byte(hidden))
}
