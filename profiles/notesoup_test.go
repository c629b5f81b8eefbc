package profiles_test

import (
	"errors"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/profile"
)

func TestN13_TheStrictProfileWritesItsNumbers(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("notesoup-strict", options(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.Compaction.Config); got != `{"boot_in_checkpoint":true,"carry":"none","last_words":false,"strict":true}` {
		t.Errorf("config %s", got)
	}
	if p.Compaction.OnTrigger != "auto" {
		t.Errorf("on_trigger %q", p.Compaction.OnTrigger)
	}
	b, err := compaction.Resolve(p.Compaction.Budget("any"), 200000, 8192, "profile")
	if err != nil {
		t.Fatal(err)
	}
	// min(160000, 200000-8192-65536)
	if b.ResetAt != 126272 || b.Reserve != 73728 || b.Warning != 73728+16384 || b.Reminder != 73728+24576 {
		t.Errorf("200000/8192: %+v", b)
	}
	if b, err = compaction.Resolve(p.Compaction.Budget("any"), 1000000, 8192, "profile"); err != nil || b.ResetAt != 800000 || b.Warning != 216384 || b.Reminder != 224576 {
		t.Errorf("1000000/8192: %+v, %v", b, err)
	}
	var small *compaction.ConfigError // what the comment in the profile says of small windows
	if _, err := compaction.Resolve(p.Compaction.Budget("any"), 98304, 8192, "profile"); !errors.As(err, &small) {
		t.Errorf("98304: %v", err)
	}
	if _, err := compaction.Resolve(p.Compaction.Budget("any"), 98305, 8192, "profile"); err != nil {
		t.Errorf("98305: %v", err)
	}
	// the worked example: two numbers of it are written over the profile's
	p, err = profile.Load("notesoup-strict", options(t, "compaction.threshold_ratio=0.7", "compaction.headroom_tokens=32768"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = compaction.Resolve(p.Compaction.Budget("any"), 200000, 8192, "profile"); err != nil || b.ResetAt != 140000 || b.Reserve != 60000 || b.Warning != 76384 || b.Reminder != 84576 {
		t.Errorf("200000/8192/0.7/32768: %+v, %v", b, err)
	}
}

func TestN15_N18_TheNotesoupProfileCarriesAndGrantsLastWords(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("notesoup", options(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.Compaction.Config); got != `{"carry":"request","last_words":true}` {
		t.Errorf("config %s", got)
	}
}
