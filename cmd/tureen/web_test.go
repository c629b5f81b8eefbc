package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// A run reads a page that its profile allows, searches, and reaches nothing else of
// this machine, the model's own endpoint included.
func TestT19_ARunReadsTheWeb(t *testing.T) {
	t.Parallel()
	u := user(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query().Get("q"); q != "" {
			_ = json.NewEncoder(w).Encode(map[string]any{"results": []any{map[string]string{"title": "About " + q, "url": "https://example.org/", "content": "words"}}})
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Home</title><p>The answer is 42.")
	}))
	t.Cleanup(site.Close)
	_, port, _ := net.SplitHostPort(site.Listener.Addr().String())
	faultyProfile("poke", fmt.Sprintf("[[plugins]]\nuse = \"web\"\nconfig = { allow_hosts = [\"127.0.0.1:%s\"], search_url = \"%s/?q={query}\" }\n", port, site.URL))(t, u)
	fetch := func(url string) scripted.Call {
		return scripted.Call{Name: "web_fetch", Arguments: scripted.Arguments(fmt.Sprintf(`{"url":%q}`, url))}
	}
	withModel(scripted.NewScript(scripted.Reply{Calls: []scripted.Call{fetch(site.URL), {Name: "web_search", Arguments: `{"queries":["tea"]}`}, fetch("http://localhost:" + port), fetch("http://127.0.0.1:1/v1/models")}},
		scripted.Reply{Text: "42"}))(t, u)
	if o := u.run(t, mine...); o.exit != 0 || o.stdout != "42\n" {
		t.Fatalf("%+v", o)
	}
	events, violations, err := u.events(u.lastSession())
	if err != nil || len(violations) > 0 {
		t.Fatal(err, violations)
	}
	var got []string
	for _, e := range events {
		if r, err := session.Decode[session.ToolResult](e); err == nil && e.Kind == session.KindToolResult {
			got = append(got, r.Message.Text())
		}
	}
	for i, want := range []string{"Title: Home\n\nThe answer is 42.", "1. About tea\n   https://example.org/", "Error: not fetched: \"localhost\" is", "Error: not fetched: 127.0.0.1 is an address of this machine"} {
		if len(got) != 4 || !strings.Contains(got[i], want) {
			t.Errorf("result %d of %d is %.300q, want %q", i+1, len(got), got[min(i, len(got)-1)], want)
		}
	}
	if o := u.run(t, "run", "-P", "none", "-c", `plugins=[{use="web",config={search="x"}}]`, "hello"); o.exit != 2 {
		t.Errorf("a key that is not there: %+v", o)
	}
}
