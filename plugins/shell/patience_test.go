package shell_test

import (
	"strings"
	"testing"
)

const keepsOpen = "1 background job still runs and keeps this run open: job-1 (Try something). Kill what is not needed any more with job_kill"

// TestT9_AJobThatNeverEndsHoldsARunForAWhile: then the model is told once, and the run
// ends with its next turn. A turn that somebody begins later is held as the first.
func TestT9_AJobThatNeverEndsHoldsARunForAWhile(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{"wait": "300ms"}`)
	c.ok("shell", args{"command": "sleep 1000", "run_in_background": true})
	const what = "1 background job (Try something)"
	for range 2 {
		if w := c.waitsAfter(1); w != what {
			t.Errorf("waits for %q", w)
		}
	}
	c.until("the model is told", func() bool { c.waitsAfter(1); return len(c.log.notices(t)) > 0 })
	c.told(keepsOpen)
	c.step(2, 1)
	for range 2 {
		if w := c.waitsAfter(2); w != "" {
			t.Errorf("the turn after that is held: %q", w)
		}
	}
	c.told(keepsOpen)
	c.step(3, 1)
	if w := c.waitsAfter(3); w != what {
		t.Errorf("a later turn waits for %q", w)
	}
	c.until("the model is told again", func() bool { c.waitsAfter(3); return len(c.log.notices(t)) > 1 })
	// A job that the model has started since holds the run again, and its end is told.
	c.step(4, 1)
	c.ok("shell", args{"command": untilGo, "run_in_background": true})
	if w := c.waitsAfter(4); !strings.HasPrefix(w, "2 background jobs (") {
		t.Errorf("waits for %q", w)
	}
	c.put("go", "")
	c.until("its end is told", func() bool { return len(c.log.notices(t)) > 2 })
	c.ok("job_kill", args{"id": "job-1"})
	c.until("nothing is waited for", func() bool { return c.waitsAfter(5) == "" })
	c.told(keepsOpen, keepsOpen, "Background job job-2 ")
}

func TestT9_ARunNeedNotWaitForJobs(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{"wait": "0s"}`)
	c.ok("shell", args{"command": "sleep 1000", "run_in_background": true})
	if w := c.waitsAfter(1); w != "" {
		t.Errorf("waits for %q", w)
	}
	c.told()
	if spec := c.tools.Specs()[0]; !strings.Contains(string(spec.Schema), "The run does not wait for it: what still runs when you have answered is stopped.") {
		t.Errorf("schema %s", spec.Schema)
	}
	if spec := jobs(t, `{"wait": "90m"}`).tools.Specs()[0]; !strings.Contains(string(spec.Schema), "The run waits for its end (at most 1h30m): stop it with job_kill when it is not needed any more. You are told when it ends.") {
		t.Errorf("schema %s", spec.Schema)
	}
}
