package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host/tool"
)

type object = map[string]any

func TestT19_ASearchAsksTheEndpoint(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]bool{}
	s := site(t, map[string]http.HandlerFunc{"/search": func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query().Get("q")
		mu.Lock()
		asked[q+"/"+r.URL.Query().Get("format")] = true
		mu.Unlock()
		var results []object
		switch q {
		case "broken":
			w.WriteHeader(http.StatusInternalServerError)
			return
		case "a & b=c?":
			results = []object{{"title": "one\n2. two", "url": "https://example.org/é page", "content": strings.Repeat("w ", 600)},
				{"title": "bad", "url": "javascript:alert(1)", "content": ""}}
		case "many":
			for i := range 20 {
				results = append(results, object{"title": fmt.Sprint("t", i), "url": fmt.Sprint("http://example.org/", i), "content": 5})
			}
		}
		_ = json.NewEncoder(w).Encode(object{"results": results, "query": q})
	}})
	b := setup(t, `{"search_url":"`+s.URL+`/search?q={query}&format=json"}`) // its host is allowed
	r := b.call(tool.Call{Name: "web_search"}, object{"queries": []string{"a & b=c?", "nothing"}})
	_, content, after := open(t, r)
	want := "Results for \"a & b=c?\":\n1. one 2. two\n   https://example.org/%C3%A9%20page\n   " + strings.Repeat("w ", 249) + "w…\n\nResults for \"nothing\":\n(none)"
	if content != want || after != "\nCite the URLs that you rely on as Markdown links in your answer." {
		t.Errorf("content %q\nwant    %q\nafter %q", content, want, after)
	}
	if !asked["a & b=c?/json"] {
		t.Errorf("asked %v", asked)
	}
	if r := b.call(tool.Call{Name: "web_search"}, object{"queries": []string{"many"}}); r.Code != "SEARCH_FAILED" {
		t.Errorf("content that is no text: %+v", r)
	}
	head, _, _ := open(t, b.call(tool.Call{Name: "web_search"}, object{"queries": []string{"nothing", "broken"}}))
	if !strings.Contains(head, `Not answered: "broken": the search endpoint answered 500`) {
		t.Errorf("one of two failed: %q", head)
	}
	if r := b.call(tool.Call{Name: "web_search"}, object{"queries": []string{"broken"}}); !r.IsError || r.Code != "SEARCH_FAILED" {
		t.Errorf("all failed: %+v", r)
	}
	if r := b.fetch(s.URL + "/search?q=x"); r.Code != "ADDRESS_REFUSED" {
		t.Errorf("the endpoint's host can be fetched: %+v", r)
	}
}

func TestT19_AtMostEightResults(t *testing.T) {
	t.Parallel()
	s := site(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		var results []object
		for i := range 20 {
			results = append(results, object{"title": fmt.Sprint("t", i), "url": fmt.Sprint("http://example.org/", i), "content": "c"})
		}
		_ = json.NewEncoder(w).Encode(object{"results": results})
	}})
	b := setup(t, `{"search_url":"`+s.URL+`/?q={query}"}`)
	_, content, _ := open(t, b.call(tool.Call{Name: "web_search"}, object{"queries": []string{"a", "b", "c", "d"}}))
	if n := strings.Count(content, "http://example.org/"); n != 32 {
		t.Errorf("%d results of four queries", n)
	}
	for _, bad := range []any{[]string{}, []string{"1", "2", "3", "4", "5"}, []string{""}, "a"} {
		if r := b.call(tool.Call{Name: "web_search"}, object{"queries": bad}); r.Code != "INVALID_ARGUMENTS" {
			t.Errorf("%v: %+v", bad, r)
		}
	}
}
