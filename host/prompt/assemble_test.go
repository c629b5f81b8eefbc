package prompt_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/prompt"
)

func all(string) bool { return true }

func TestSP1_SectionsStandInOrderAndAreInterpolated(t *testing.T) {
	t.Parallel()
	got, err := prompt.Assemble([]prompt.Section{
		{ID: "z", Order: 10, Text: "last"}, {ID: "b", Order: 5, Text: "b {{model}}"}, {ID: "a", Order: 5, Text: "a"},
		{ID: "raw", Order: 6, Text: "{{kept}}", Raw: true}, {ID: "empty", Order: 7, Text: "  "},
	}, map[string]string{"model": "m1"}, all)
	if err != nil || got != "a\n\nb m1\n\n{{kept}}\n\nlast" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSP1_AnUnknownOrEmptyVariableFails(t *testing.T) {
	t.Parallel()
	for _, vars := range []map[string]string{{}, {"who": ""}} {
		_, err := prompt.Assemble([]prompt.Section{{ID: "s", Text: "{{who}}"}}, vars, all)
		if err == nil || !strings.Contains(err.Error(), `section "s": unknown variable {{who}}`) {
			t.Errorf("vars %v: %v", vars, err)
		}
	}
}

func TestSP1_ACompleteSectionStandsAlone(t *testing.T) {
	t.Parallel()
	got, err := prompt.Assemble([]prompt.Section{{ID: "a", Order: 1, Text: "a"}, {ID: "b", Order: 2, Text: "only", Complete: true}}, nil, all)
	if err != nil || got != "only" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSP9_ASectionShowsOnlyWhileItsToolIsVisible(t *testing.T) {
	t.Parallel()
	sections := []prompt.Section{{ID: "a", Text: "use read", Tool: "read"}, {ID: "b", Text: "use jobs", Tool: "jobs"}}
	got, err := prompt.Assemble(sections, nil, func(tool string) bool { return tool == "read" })
	if err != nil || got != "use read" {
		t.Errorf("%q, %v", got, err)
	}
	if sections[1].ID != "b" {
		t.Error("the caller's sections were changed")
	}
}

func TestL13_RuntimeContextSaysWhenItBecomesEmpty(t *testing.T) {
	t.Parallel()
	if got := prompt.RuntimeContext(nil, all, false); got != "" {
		t.Errorf("nothing to say, yet it says %q", got)
	}
	if got := prompt.RuntimeContext(nil, all, true); !strings.Contains(got, "none") {
		t.Errorf("an empty context after a full one says %q", got)
	}
	got := prompt.RuntimeContext([]prompt.Context{{ID: "b", Order: 2, Text: "two"}, {ID: "a", Order: 1, Text: "one"}}, all, false)
	if !strings.HasSuffix(got, "\n\none\n\ntwo") {
		t.Errorf("%q", got)
	}
}

func TestSP2_SP3_DefaultsNameTheModelAndAskToAct(t *testing.T) {
	t.Parallel()
	got, err := prompt.Assemble(prompt.Defaults("", ""), map[string]string{"model": "m1"}, all)
	if err != nil || !strings.Contains(got, "m1") || !strings.Contains(got, "tool call in the same answer") || len(got) > 600 {
		t.Errorf("%d bytes, %v: %q", len(got), err, got)
	}
}
