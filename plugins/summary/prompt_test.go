package summary_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/summary"
)

func start(t *testing.T, config map[string]any) (sdk.Services, error) {
	t.Helper()
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return summary.Plugin("").Start(t.Context(), sdk.Init{Config: raw})
}

func TestC7_APromptFileTakesThePlaceOfTheInstruction(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "prompt.md")
	if err := os.WriteFile(file, []byte("\nWrite a haiku about it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	services, err := start(t, map[string]any{"prompt_file": file, "guidance": "Mind the tests."})
	if err != nil {
		t.Fatal(err)
	}
	s := compactiontest.New(t, "summary", "You work.")
	s.Turn()
	s.User(session.SourceOwner, strings.Repeat("please ", 500))
	var asked string
	s.Model = func(_ context.Context, _ []*llm.Message, g session.Generate) (session.Generated, error) {
		asked = g.Append[0].Text()
		return session.Generated{Message: llm.Text(llm.RoleAssistant, "done"), Stop: llm.StopEnd}, nil
	}
	s.Compact(services.Strategy, s.Input(session.TriggerManual))
	if !strings.HasPrefix(asked, "Write a haiku about it.\n\nMind the tests.\n\nWhatever was asked above, ") {
		t.Errorf("asked %q", asked)
	}
}

func TestC7_ABadPromptFileIsAnErrorAtTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for want, path := range map[string]string{
		"no such file":   filepath.Join(dir, "missing.md"),
		"regular file":   dir,
		"empty":          file("empty.md", " \n\t"),
		"not UTF-8":      file("latin1.md", "gr\xfc\xdfe"),
		"not UTF-8 text": file("nul.md", "a\x00b"),
		"64 KiB":         file("large.md", strings.Repeat("x", 64<<10+1)),
		"absolute":       "prompt.md",
	} {
		_, err := start(t, map[string]any{"prompt_file": path})
		var own *sdk.Error
		if !errors.As(err, &own) || own.Code != sdk.CodeConfigInvalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "compaction.summary.prompt_file") {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if _, err := start(t, map[string]any{"prompt_file": file("edge.md", strings.Repeat("x", 64<<10))}); err != nil {
		t.Error(err)
	}
}

func TestK2_C011_AnOwnModelWithoutAWindowIsAnErrorOfTheConfig(t *testing.T) {
	t.Parallel()
	services, err := start(t, map[string]any{"model": "small"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = services.Strategy.Open(t.Context(), compactiontest.New(t, "summary", "You work.").Opened())
	var own *sdk.Error
	if !errors.As(err, &own) || own.Code != sdk.CodeConfigInvalid || !strings.Contains(err.Error(), "compaction.summary.context_window") {
		t.Errorf("got %v", err)
	}
}
