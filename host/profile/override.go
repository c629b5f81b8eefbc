package profile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

const overrideHint = "write -c key=value with a dotted key, such as -c compaction.strategy=summary"

// overrides is the layer of -c and the layer of flags above it, merged.
func (l *loader) overrides() *node {
	var layer *node
	for _, text := range l.Overrides {
		origin := Origin{Source: sourceOverride}
		keys, value, err := splitOverride(strings.ToValidUTF8(text, "\uFFFD"))
		if err != nil {
			found, hint, _ := strings.Cut(err.Error(), "; ")
			l.report(Problem{Origin: origin, Found: found, Hint: cmp.Or(hint, overrideHint)})
			continue
		}
		layer = merge(layer, l.override(origin, keys, value))
	}
	for _, f := range l.Flags {
		switch v := f.Value.(type) {
		case string:
			f.Value = strings.ToValidUTF8(v, "\uFFFD")
		case int:
			f.Value = int64(v)
		}
		layer = merge(layer, l.override(Origin{Source: f.Name}, strings.Split(f.Key, "."), f.Value))
	}
	return layer
}

func (l *loader) override(origin Origin, keys []string, value any) *node {
	n := l.place(origin, keys, value)
	l.check(n, inOverride)
	return n
}

// splitOverride cuts at the first = outside quotes. The value is one TOML value,
// else a text as it stands.
func splitOverride(s string) (keys []string, value any, err error) {
	at, quoted := -1, rune(0)
	for i, r := range s {
		switch {
		case quoted != 0:
			if r == quoted {
				quoted = 0
			}
		case r == '"' || r == '\'':
			quoted = r
		case r == '=':
			at = i
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 {
		return nil, nil, fmt.Errorf("%q has no =", s)
	}
	keys, err = splitKey(s[:at])
	return keys, parseValue(s[at+1:]), err
}

func splitKey(s string) ([]string, error) {
	bad := fmt.Errorf("%q is not a dotted key", s)
	if strings.ContainsAny(s, "[]") {
		bad = fmt.Errorf("%q names an item of a list; a list is set whole, such as -c 'plugins=[{use=\"shell\"}]'", s)
	}
	var p unstable.Parser
	p.Reset([]byte(s + " = 0"))
	if !p.NextExpression() || p.Expression().Kind != unstable.KeyValue {
		return nil, bad
	}
	var keys []string
	for it := p.Expression().Key(); it.Next(); {
		keys = append(keys, string(it.Node().Data))
	}
	if p.NextExpression() || p.Error() != nil || len(keys) == 0 {
		return nil, bad
	}
	return keys, nil
}

func parseValue(s string) any {
	var one map[string]any
	if err := toml.Unmarshal([]byte("value = "+s), &one); err == nil && len(one) == 1 {
		return one["value"]
	}
	return strings.TrimSpace(s)
}
