package shellcmd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
)

// Lines that are too long, too deep or too many are asked about, in bounded time.
func TestT16_LargeLinesAreAskedAbout(t *testing.T) {
	t.Parallel()
	nested := "curl x"
	for range 8 {
		nested = "sh -c " + quote(nested)
	}
	deep := "curl x"
	for range 14 {
		deep = "eval " + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`).Replace(deep)
	}
	full := shellcmd.MaxBytes - 10
	for name, text := range map[string]string{
		"long":               "echo " + strings.Repeat("x", shellcmd.MaxBytes) + "; curl x",
		"padded":             "echo a;" + strings.Repeat(" ", shellcmd.MaxBytes) + "curl x",
		"subshells":          strings.Repeat("( ", full/5) + "curl x" + strings.Repeat(" )", full/5),
		"only opened":        strings.Repeat("(", full),
		"groups":             strings.Repeat("{ ", full/6) + "curl x;" + strings.Repeat(" };", full/6),
		"substitutions":      strings.Repeat("$(", full/3) + "curl x" + strings.Repeat(")", full/3),
		"quoted substitions": strings.Repeat(`"$(echo `, full/10) + "curl x" + strings.Repeat(`)"`, full/10),
		"backquotes":         strings.Repeat("`", full),
		"parameters":         "echo " + strings.Repeat("${a:-", full/6) + "$(curl x)" + strings.Repeat("}", full/6),
		"arithmetic":         "echo $((" + strings.Repeat("(", full/2-10) + "1" + strings.Repeat(")", full/2-10) + "))",
		"ifs":                strings.Repeat("if ", full/3),
		"negations":          strings.Repeat("! ", full/2),
		"times":              strings.Repeat("time ", full/5) + "curl x",
		"functions":          strings.Repeat("f()", full/3),
		"here-documents":     strings.Repeat("cat <<A;", full/8),
		"many commands":      strings.Repeat("a;", full/2) + "curl x",
		"pipes":              strings.Repeat("a|", full/2) + "curl x",
		"braces":             strings.Repeat("{a,b}", full/5) + " curl x",
		"nested braces":      strings.Repeat("{a,", full/4) + "b" + strings.Repeat("}", full/4),
		"sequences":          "echo {1..999999999}{1..999999999}; curl x",
		"variables":          strings.Repeat("a=1; a=2; b=1; b=2; c=1; c=2; d=1; d=2; e=1; e=2; f=1; f=2; ", 200) + "curl $a$b$c$d$e$f",
		"shells in shells":   nested,
		"evals in evals":     deep,
		"wrappers":           strings.Repeat("env ", full/4-2) + "curl x",
		"wrapper names":      "mywrapper " + strings.Repeat("curl sudo ", full/11),
		"finds":              "find . " + strings.Repeat(`-exec sh -c "curl x" \; `, full/25),
		"awks":               strings.Repeat("awk 'BEGIN{system(\"curl x\")}';", full/32),
	} {
		start := time.Now()
		line := shellcmd.Analyze(text, options(t.TempDir()))
		if !asks(line) && name != "arithmetic" {
			t.Errorf("%s: nothing to ask about", name)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		} else if took > 500*time.Millisecond {
			t.Logf("%s took %s", name, took)
		}
	}
}

// FuzzAnalyze: no text makes the analysis fail, and a plain command that follows
// a text that stands for itself is found.
func FuzzAnalyze(f *testing.F) {
	for _, a := range attacks {
		f.Add(a.line)
	}
	for _, text := range append(append([]string{}, unproven...), everyday...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := shellcmd.Analyze(text, shellcmd.Options{Dir: "/w", Home: "/h", Inside: func(string) bool { return true }})
		for _, c := range line.Commands {
			_ = c.Text()
			for _, n := range c.Concerns {
				if n.Why == "" || n.Kind == "" {
					t.Errorf("%q: a concern without a reason: %+v", text, c)
				}
			}
		}
		// In single quotes the text cannot end the command before curl.
		quoted := "echo " + quote(strings.ReplaceAll(text, "\x00", "")) + "; curl x"
		if !asks(shellcmd.Analyze(quoted, shellcmd.Options{Dir: "/w"})) {
			t.Errorf("nothing to ask about %q", quoted)
		}
		for _, wrapped := range []string{"bash -c " + quote("curl x #"+text), "eval " + quote("curl x\n"+text), "f() {\ncurl x\n}; : " + quote(text)} {
			if !asks(shellcmd.Analyze(strings.ReplaceAll(wrapped, "\x00", ""), shellcmd.Options{Dir: "/w"})) {
				t.Errorf("nothing to ask about %q", wrapped)
			}
		}
	})
}
