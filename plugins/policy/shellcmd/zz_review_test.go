package shellcmd_test

import (
	"fmt"
	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
	"os"
	"strings"
	"testing"
)

func TestZZReview(t *testing.T) {
	raw, _ := os.ReadFile(os.Getenv("ATTACKS"))
	dir := field(t)
	real := os.Getenv("REAL") != ""
	for _, l := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		l = strings.ReplaceAll(l, "␤", "\n")
		if strings.HasPrefix(l, "##") || l == "" {
			continue
		}
		line := shellcmd.Analyze(l, options(dir))
		if asks(line) {
			if os.Getenv("SHOWASK") != "" {
				for _, c := range line.Commands {
					for _, n := range c.Concerns {
						fmt.Printf("ASK     %s   -> %s: %s\n", strings.ReplaceAll(l, "\n", "␤"), strings.ReplaceAll(c.Text(), "\x00", "?"), n.Why)
					}
				}
			} else {
				fmt.Printf("asked   %s\n", strings.ReplaceAll(l, "\n", "␤"))
			}
		} else {
			p, s := "", ""
			if real {
				p, s = run(t, l)
			}
			if len(s) > 80 {
				s = s[:80]
			}
			fmt.Printf("THROUGH %s   [ran: %s] %q\n", strings.ReplaceAll(l, "\n", "␤"), p, s)
		}
	}
}
