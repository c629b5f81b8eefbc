package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

const (
	maxResults = 8 // of one query
	titleHead  = 200
	wordsHead  = 500
)

type searchArgs struct {
	Queries []string `json:"queries"`
}

// found is one result as SearXNG writes it.
type found struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content"`
}

// search asks the endpoint all queries at once, and answers where one of them was.
func (p *Provider) search(ctx context.Context, call tool.Call, args searchArgs) (string, error) {
	if err := online(call); err != nil {
		return "", err
	}
	texts, errs := make([]string, len(args.Queries)), make([]error, len(args.Queries))
	var queries sync.WaitGroup
	for i, q := range args.Queries {
		queries.Go(func() {
			results, err := p.query(ctx, q)
			texts[i], errs[i] = listed(q, results), err
		})
	}
	queries.Wait()
	var failed []string
	for i, err := range errs {
		if err != nil {
			texts[i], failed = "", append(failed, fmt.Sprintf("Not answered: %.100q: %v", args.Queries[i], err))
		}
	}
	if len(failed) == len(texts) {
		return "", errs[0]
	}
	return frame(failed, strings.Join(texts, "")) + "\nCite the URLs that you rely on as Markdown links in your answer.", nil
}

// query asks the endpoint, whose host the config chose, one query.
func (p *Provider) query(ctx context.Context, q string) ([]found, error) {
	got, err := p.endpoint.get(ctx, strings.ReplaceAll(p.config.Search, queryPlace, url.QueryEscape(q)), "application/json")
	var known *toolcall.Error
	switch {
	case errors.As(err, &known):
		return nil, toolcall.Errorf("SEARCH_FAILED", "the search endpoint cannot be asked: %s", known.Message)
	case err != nil:
		return nil, err
	case got.status != http.StatusOK:
		return nil, toolcall.Errorf("SEARCH_FAILED", "the search endpoint answered %d; say that the search does not work, and go on without it", got.status)
	}
	var answer struct {
		Results []found `json:"results"`
	}
	if err := json.Unmarshal(got.body, &answer); err != nil {
		return nil, toolcall.Errorf("SEARCH_FAILED", "the search endpoint did not answer with JSON that has results; say that the search does not work, and go on without it")
	}
	return answer.Results, nil
}

// listed writes the results of one query, those that can be fetched.
func listed(query string, results []found) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Results for %q:\n", query)
	n := 0
	for _, r := range results {
		u, err := url.Parse(r.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || len(r.URL) > urlHead || n == maxResults {
			continue
		}
		n++
		fmt.Fprintf(&b, "%d. %s\n   %s\n", n, head(r.Title, titleHead), spelled(u))
		if words := head(r.Content, wordsHead); words != "" {
			fmt.Fprintf(&b, "   %s\n", words)
		}
	}
	if n == 0 {
		b.WriteString("(none)\n")
	}
	return b.String() + "\n"
}

// head is the beginning of a text on one line.
func head(text string, most int) string {
	line := []rune(strings.Join(strings.Fields(tool.Clean(text)), " "))
	if len(line) > most {
		return string(line[:most-1]) + "…"
	}
	return string(line)
}
