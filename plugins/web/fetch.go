package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// maxText is the most characters of a page that are shown.
const maxText = 200_000

const accepts = "text/html,application/xhtml+xml,application/json,text/*;q=0.9,*/*;q=0.5"

type fetchArgs struct {
	URL string `json:"url"`
}

// fetch gets a page and returns it as text in a frame.
func (p *Provider) fetch(ctx context.Context, call tool.Call, args fetchArgs) (string, error) {
	if err := online(call); err != nil {
		return "", err
	}
	got, err := p.pages.get(ctx, args.URL, accepts)
	if err != nil {
		return "", err
	}
	if got.leads != nil {
		return frame([]string{"URL: " + spelled(got.url), status(got.status)}, spelled(got.leads)) +
			"\nThe server redirects to this URL, which lies on another host, port or scheme. It was not followed: fetch that URL if you need it.", nil
	}
	if redirected(got.status) {
		return "", toolcall.Errorf("REDIRECTS", "the server answered %d without saying where to; check the URL", got.status)
	}
	kind, text, err := got.text()
	if err != nil {
		return "", err
	}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		if text, err = readable(ctx, text, got.url); err != nil {
			return "", err
		}
	}
	text, notice := shown(tool.Clean(text), got.cut)
	if strings.TrimSpace(text) == "" {
		text = "(no text)"
	}
	head := []string{
		"URL: " + spelled(got.url),
		status(got.status),
		fmt.Sprintf("Type: %.100s", kind),
	}
	return frame(head, text) + notice, nil
}

func status(code int) string { return fmt.Sprintf("Status: %d %s", code, http.StatusText(code)) }

func redirected(status int) bool {
	return status >= 300 && status < 400 && status != http.StatusNotModified
}

// online refuses a call that must not reach other machines (T17).
func online(call tool.Call) error {
	if call.Confinement.Offline {
		return toolcall.Errorf("OFFLINE", "this call may not reach other machines: the profile's policy keeps it offline. Go on without the web, and say what you could not look up")
	}
	return nil
}

// shown cuts a text to what is shown of it, and says so.
func shown(text string, cut bool) (head, notice string) {
	if utf8.RuneCountInString(text) > maxText {
		runes := 0
		for at := range text {
			if runes == maxText {
				text, cut = text[:at], true
				break
			}
			runes++
		}
		return text, fmt.Sprintf("\n(Only the first %d characters are shown. For the rest fetch a narrower URL: one section, one page of a list.)", maxText)
	}
	if cut {
		return text, fmt.Sprintf("\n(Only the first %d MiB were read. For the rest fetch a narrower URL: one section, one page of a list.)", maxBody>>20)
	}
	return text, ""
}
