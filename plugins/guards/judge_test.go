package guards

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// offered are the tools that the texts of testdata speak of.
func offered() []string { return []string{"read", "write", "edit", "glob", "grep", "shell"} }

func table(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n%%\n")
}

// C133: what announces is told from what answers, each time as the end of a longer
// text too.
func TestC133_AnnouncementsAreToldFromAnswers(t *testing.T) {
	t.Parallel()
	for _, class := range []struct {
		file  string
		want  finding
		least int
	}{{"announced.txt", announced, 40}, {"typed.txt", typedCall, 15}, {"answers.txt", nothing, 60}} {
		texts := table(t, class.file)
		if len(texts) < class.least {
			t.Errorf("%s holds %d texts, want at least %d", class.file, len(texts), class.least)
		}
		for _, text := range texts {
			wholes := []string{text, text + "  \n\n"}
			if class.want != typedCall { // which may stand behind an announcement only
				wholes = append(wholes, "The config is read in `main.go`, line 12.\n\n"+text)
			}
			for _, whole := range wholes {
				if got := judge(whole, offered); got != class.want {
					t.Errorf("%s: judged %d, want %d:\n%s", class.file, got, class.want, whole)
				}
			}
		}
	}
}

// A text that names no tool on offer is no call, whatever it looks like.
func TestC133_OnlyToolsOnOfferAreCalls(t *testing.T) {
	t.Parallel()
	for _, text := range table(t, "typed.txt") {
		if got := judge(text, func() []string { return []string{"teleport"} }); got == typedCall {
			t.Errorf("taken for a call:\n%s", text)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, name := range []string{"announced.txt", "typed.txt", "answers.txt"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for text := range strings.SplitSeq(string(raw), "\n%%\n") {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if judge(text, offered) != judge(text+"\n", offered) {
			t.Errorf("a line feed at the end changes the judgement: %q", text)
		}
	})
}
