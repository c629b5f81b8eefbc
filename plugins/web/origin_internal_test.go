package web

import (
	"net/url"
	"testing"
)

func TestT19_WhatCountsAsTheSameOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.org/x", "http://a.org/y", true},
		{"http://a.org/x", "http://A.ORG.:80/y", true},
		{"http://a.org/x", "https://a.org/y", true},
		{"http://a.org:80/x", "https://a.org:443/y", true},
		{"http://münchen.example/", "https://xn--mnchen-3ya.example/", true},
		{"https://a.org/x", "http://a.org/y", false},
		{"http://a.org:8080/x", "https://a.org/y", false},
		{"http://a.org/x", "https://a.org:8443/y", false},
		{"https://a.org/x", "https://a.org:8443/y", false},
		{"https://a.org/x", "https://www.a.org/y", false},
		{"https://a.org/x", "https://a.org.evil.example/y", false},
	} {
		from, err := url.Parse(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := sameOrigin(from, to); got != c.want {
			t.Errorf("%s to %s: %v", c.from, c.to, got)
		}
	}
}
