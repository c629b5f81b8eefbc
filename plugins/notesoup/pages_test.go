package notesoup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host/tool"
)

// Ten small notes that are read side by side fit the budget of a step, though each
// reader could have used half of it.
func TestN8_SmallPagesSideBySideAreNotRefused(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	for i := range 10 {
		d.call("notes_write", object{"path": fmt.Sprint("note", i), "text": strings.Repeat("x", 2000)})
	}
	d.step++
	results := make([]tool.Result, 10)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { results[i] = d.beside("notes_read", object{"path": fmt.Sprint("note", i)}, -1) })
	}
	all.Wait()
	for i, r := range results {
		if r.IsError || !strings.Contains(r.Text, "xxx") {
			t.Errorf("note %d: %.200q", i, r.Text)
		}
	}
}

func TestN8_RefusalsCountInTheBudgetOfAStep(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	d.step++
	total, path := 0, strings.Repeat("a", 70)+"/"+strings.Repeat("b", 70)
	for n := 0; ; n++ {
		r := d.beside("notes_read", object{"path": path}, -1)
		if r.Code == "E_BUDGET" {
			break
		}
		if total += len(r.Text); r.Code != "E_NOT_FOUND" || n > 2000 {
			t.Fatalf("call %d: %+v", n, r)
		}
	}
	if total > 70<<10 {
		t.Errorf("%d bytes of refusals in one step", total)
	}
	if r := d.call("notes_read", object{"path": path}); r.Code != "E_NOT_FOUND" {
		t.Errorf("the next step: %+v", r)
	}
}

func TestN5_N8_TheListOfProjectsHasPages(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	for i := range 250 {
		dir := filepath.Join(d.home, "projects", fmt.Sprintf("p%03d", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".project"), []byte(`{"v":1,"ids":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	for cursor := ""; ; {
		r := d.call("notes_list", object{"path": "@projects", "limit": 100, "cursor": cursor})
		if r.IsError || !strings.HasPrefix(r.Text, "ok notes_list @projects projects=250") {
			t.Fatalf("%+v", r)
		}
		seen = append(seen, regexp.MustCompile(`(?m)^@projects/p\d+$`).FindAllString(r.Text, -1)...)
		next := nextPage.FindStringSubmatch(r.Text)
		if next == nil {
			break
		}
		cursor = next[1]
	}
	if len(seen) != 250 || seen[0] != "@projects/p000" || seen[249] != "@projects/p249" {
		t.Errorf("%d projects", len(seen))
	}
	if r := d.call("notes_list", object{"path": "@projects", "cursor": "7.abc"}); r.Code != "E_CURSOR" {
		t.Errorf("%+v", r)
	}
}

// The receipt of every mutation, to the letter.
func TestN8_Receipts(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	rev := func() string {
		r := d.call("notes_read", object{"path": "@project/deploy"})
		return regexp.MustCompile(`rev=([0-9a-f]{8})`).FindStringSubmatch(r.Text)[1]
	}
	for _, c := range []struct {
		tool string
		args object
		want string
	}{
		{"notes_write", object{"path": "@project/deploy", "text": "one\n"},
			`ok notes_write @project/deploy.md mode=create rev=REV cp=4(+4) lines=1 created=yes boot=recent#1 durable=yes`},
		{"notes_write", object{"path": "@project/deploy", "text": "two", "mode": "append"},
			`ok notes_write @project/deploy.md mode=append rev=REV was=REV cp=7(+3) lines=2 boot=recent#1 durable=yes`},
		{"notes_edit", object{"path": "@project/deploy", "edits": []object{{"old": "two", "new": "2"}}},
			`ok notes_edit @project/deploy.md edits=1 rev=REV was=REV cp=5(-2) lines=2 boot=recent#1 durable=yes`},
		{"notes_write", object{"path": "@project/deploy", "text": "", "mode": "append"},
			`ok notes_write @project/deploy.md mode=append rev=REV was=REV cp=5(+0) lines=2 changed=no durable=yes`},
		{"notes_write", object{"path": "@project/deploy", "text": "three\n", "mode": "replace", "if_rev": "NOW"},
			`ok notes_write @project/deploy.md mode=replace rev=REV was=REV cp=6(+1) lines=1 boot=recent#1 durable=yes`},
		{"notes_write", object{"path": "@project/map", "text": strings.Repeat("é", 4310)},
			`ok notes_write @project/MAP.md mode=create rev=REV cp=4310(+4310) lines=1 created=yes warn=map_over shown=4096 of=4310 boot=map durable=yes`},
		{"notes_edit", object{"path": "@project/deploy", "move_to": "@project/done/deploy"},
			`ok notes_edit @project/deploy.md moved_to=@project/done/deploy.md rev=REV was=REV cp=6(+0) lines=1 boot=recent#1 durable=yes`},
		{"notes_edit", object{"path": "@project/done/deploy", "move_to": ".trash"},
			`ok notes_edit @project/done/deploy.md moved_to=.trash was=REV durable=yes`},
	} {
		if c.args["if_rev"] == "NOW" {
			c.args["if_rev"] = rev()
		}
		r := d.call(c.tool, c.args)
		line, _, _ := strings.Cut(r.Text, "\n")
		if got := regexp.MustCompile(`(rev|was)=[0-9a-f]{8}\b`).ReplaceAllString(line, "$1=REV"); r.IsError || got != c.want {
			t.Errorf("%s %v:\ngot  %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
}
