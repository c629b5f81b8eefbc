package profile

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// rule says what may stand under a key. It may turn a relative path into an
// absolute one; it changes nothing else.
type rule interface {
	check(c *checker, key string, n *node)
}

// scalar is a rule for one value.
type scalar struct {
	allowed string
	fits    func(v any) bool
	hint    func(v any) string // may be nil
	secret  func(v any) bool   // whether not to repeat the value; may be nil
}

func (r scalar) check(c *checker, key string, n *node) {
	if n.value != nil && r.fits(n.value) {
		return
	}
	found := "found " + n.describe()
	if r.secret != nil && n.value != nil && r.secret(n.value) {
		found = "this value cannot stand here and is not repeated, it may hold a secret"
	}
	p := Problem{Origin: n.origin, Key: key, Found: found, Allowed: r.allowed}
	if r.hint != nil && n.value != nil {
		p.Hint = r.hint(n.value)
	}
	c.report(p)
}

// words allows one of a few texts.
func words(allowed ...string) scalar {
	return scalar{
		allowed: strings.Join(allowed, " | "),
		fits:    func(v any) bool { s, ok := v.(string); return ok && slices.Contains(allowed, s) },
		hint:    func(v any) string { s, _ := v.(string); return didYouMean(s, allowed) },
	}
}

// whole allows an integer in a closed range.
func whole(low, high int64) scalar {
	return scalar{
		allowed: fmt.Sprintf("a whole number from %d to %d", low, high),
		fits:    func(v any) bool { i, ok := v.(int64); return ok && low <= i && i <= high },
	}
}

// decimal allows an integer or a decimal in a closed range.
func decimal(allowed string, low, high float64) scalar {
	return scalar{allowed: allowed, fits: func(v any) bool { f, ok := float(v); return ok && low <= f && f <= high }}
}

// or allows a word beside a scalar.
func (r scalar) or(word string) scalar {
	fits := r.fits
	r.allowed = fmt.Sprintf("%s, or %q", r.allowed, word)
	r.fits = func(v any) bool { return v == word || fits(v) }
	return r
}

// duration allows a text such as "45m" in a closed range.
func duration(low, high time.Duration, allowed string) scalar {
	return scalar{allowed: allowed, fits: func(v any) bool {
		s, _ := v.(string)
		d, err := time.ParseDuration(s)
		return err == nil && low <= d && d <= high
	}}
}

// text allows what a person reads or writes; lines says whether it may have
// several.
func text(allowed string, empty, lines bool) scalar {
	return scalar{allowed: allowed, fits: func(v any) bool {
		s, ok := v.(string)
		return ok && (empty || strings.TrimSpace(s) != "") && !strings.ContainsFunc(s, func(r rune) bool {
			return unicode.IsControl(r) && !(lines && (r == '\n' || r == '\r' || r == '\t'))
		})
	}}
}

// match allows a text of a pattern.
func match(allowed, pattern string) scalar {
	re := regexp.MustCompile(pattern)
	return scalar{allowed: allowed, fits: func(v any) bool { s, ok := v.(string); return ok && re.MatchString(s) }}
}

// endpoint allows a URL without a password, which has its own place.
func endpoint() scalar {
	r := scalar{allowed: `an http or https URL without user and password, such as "http://localhost:8080/v1"`}
	r.secret = func(v any) bool { s, _ := v.(string); return strings.Contains(s, "@") }
	r.fits = func(v any) bool {
		s, _ := v.(string)
		u, err := url.Parse(s)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
	}
	return r
}

// variable allows the name of an environment variable and tells it from a key.
func variable() scalar {
	r := match(`the name of an environment variable, such as "OPENAI_API_KEY", never the key itself; "" sends no key`, `^([A-Za-z_][A-Za-z0-9_]{0,63})?$`)
	r.secret = func(any) bool { return true }
	named := r.fits
	r.fits = func(v any) bool {
		s, _ := v.(string)
		like := len(s) >= 24 && strings.ContainsFunc(s, unicode.IsLower) && strings.ContainsFunc(s, unicode.IsDigit)
		return named(v) && !like
	}
	return r
}

// free is a table of any keys that JSON can hold, but for the reserved ones.
type free struct{ reserved map[string]string } // name -> what to write instead

func (r free) check(c *checker, key string, n *node) {
	if n.table == nil {
		c.report(Problem{Origin: n.origin, Key: key, Found: "found " + n.describe(), Allowed: "a table"})
		return
	}
	for name, instead := range r.reserved {
		if at := n.table[name]; at != nil {
			c.report(Problem{Origin: at.origin, Key: join(key, name), Found: "the host sets this itself", Hint: instead})
		}
	}
	n.walk(key, func(key string, n *node) {
		found := ""
		switch v := n.value.(type) {
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				found = "found " + n.describe() + ", which JSON cannot hold"
			}
		case string:
			if strings.Contains(v, "\x00") {
				found = "found a NUL character in the text"
			}
		}
		if found != "" {
			c.report(Problem{Origin: n.origin, Key: key, Found: found})
		}
	})
}

// listOf is a list whose items all follow one rule.
type listOf struct {
	item    rule
	allowed string
}

func (r listOf) check(c *checker, key string, n *node) {
	if n.list == nil {
		c.report(Problem{Origin: n.origin, Key: key, Found: "found " + n.describe(), Allowed: r.allowed})
	}
	for i, item := range n.list {
		r.item.check(c, fmt.Sprintf("%s[%d]", key, i), item)
	}
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
