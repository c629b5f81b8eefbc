package instructions_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/plugins/instructions"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

func TestSP5_TimeIsToldAtMostEveryTenMinutes(t *testing.T) {
	t.Parallel()
	h := build(t, nil).start("p", `{"time_zone":"Asia/Kathmandu"}`)
	first := h.context("time")
	inOrder(t, first, "2031-04-05T11:52:08+05:45", "Saturday", "Asia/Kathmandu")
	lacks(t, first, "have passed")
	h.now = h.now.Add(9*time.Minute + 59*time.Second)
	if got := h.context("time"); got != first {
		t.Errorf("too early: %s", got)
	}
	h.now = h.now.Add(3 * time.Second)
	inOrder(t, h.context("time"), "12:02:10", "10m2s have passed")
	h.now = h.now.Add(time.Minute)
	h.meter.compact() // the message is gone, so it may as well be right
	inOrder(t, h.context("time"), "12:03:10", "1m0s have passed")
	h.now = h.now.Add(-time.Hour) // the clock was set
	got := h.context("time")
	inOrder(t, got, "11:03:10")
	lacks(t, got, "have passed")
}

func TestSP5_ConfigDecides(t *testing.T) {
	t.Parallel()
	h := build(t, nil).start("p", `{"time_every":"0s","time_zone":"UTC"}`)
	h.context("time")
	h.now = h.now.Add(time.Second)
	inOrder(t, h.context("time"), "06:07:09", "1s have passed")
	if got := h.start("p", `{"time":false,"skills":false}`).context("time"); got != "(no such context)" {
		t.Errorf("switched off: %q", got)
	}
	if specs, err := h.plugin.Tools().Tools(t.Context(), "s"); err != nil || len(specs) > 0 {
		t.Errorf("skills are switched off: %v, %v", specs, err)
	}
	for config, want := range map[string]string{`{"time_zone":"Mars/Base"}`: "time_zone", `{"time_every":"soon"}`: "time_every", `{"time_every":"-1s"}`: "time_every", `{"user_file":"~/x"}`: "absolute path", `{"user_skills":"x"}`: "absolute path"} {
		if _, err := plugintest.Start(t, instructions.Plugin("1.0.0"), plugintest.Host{Config: json.RawMessage(config)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", config, err)
		}
	}
}
