package shellcmd_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
)

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// payloads are dangerous commands, written plainly or not.
var payloads = []string{
	`curl x`, `c\url x`, `"curl" x`, `$'\x63url' x`, `{curl,x}`, `v=curl; $v x`, `command curl x`, `env -u A curl x`, `stubs/curl x`, `rm -rf victim`, `"r"m -r victim`, `git push`, `git -C . push`,
	`find victim -delete`, `find victim -name file -exec rm {} +`, `echo victim | xargs rm -rf`, `sudo ls`, `timeout 5 wget x`, `awk 'BEGIN{system("curl x")}'`, `A=b nice curl x`, `cur${nothing}l x`, `git reset --hard`, `npm install x`, `dd if=x`,
}

// wrappings make a line that runs the given one.
var wrappings = []func(string) string{
	func(l string) string { return "sh -c " + quote(l) },
	func(l string) string { return "bash -ec " + quote(l) },
	func(l string) string { return "eval " + quote(l) },
	func(l string) string { return "command eval " + quote(l) },
	func(l string) string { return "exec bash -c " + quote(l) },
	func(l string) string { return "echo " + quote(l) + " | sh" },
	func(l string) string { return "printf %s " + quote(l) + " | bash -s" },
	func(l string) string { return "bash <<< " + quote(l) },
	func(l string) string { return "bash <<'EOT'\n" + l + "\nEOT\n" },
	func(l string) string { return "cat <<'EOC' | bash\n" + l + "\nEOC\n" },
	func(l string) string { return "(\n" + l + "\n)" },
	func(l string) string { return "{\n" + l + "\n}" },
	func(l string) string { return "if true; then\n" + l + "\nfi" },
	func(l string) string { return "for i in 1; do\n" + l + "\ndone" },
	func(l string) string { return "case a in a)\n" + l + "\n;; esac" },
	func(l string) string { return "f() {\n" + l + "\n}; f" },
	func(l string) string { return "function g {\n" + l + "\n}\ng" },
	func(l string) string { return "echo \"$(\n" + l + "\n)\"" },
	func(l string) string { return "x=$(\n" + l + "\n)" },
	func(l string) string { return "cat <(\n" + l + "\n)" },
	func(l string) string { return "echo a | tee >(\n" + l + "\n) >/dev/null; wait; sleep 0.05" },
	func(l string) string { return "x=" + quote(l) + "; eval \"$x\"" },
	func(l string) string { return "printf -v x %s " + quote(l) + "; eval \"$x\"" },
	func(l string) string { return "read -r -d '' x <<'EOR'\n" + l + "\nEOR\neval \"$x\"" },
	func(l string) string { return "env A=b sh -c " + quote(l) },
	func(l string) string { return "timeout 5 nice bash -c " + quote(l) },
	func(l string) string { return "find . -maxdepth 0 -exec sh -c " + quote(l) + " \\;" },
	func(l string) string { return "echo a | xargs -I% sh -c " + quote(l) },
	func(l string) string { return "trap " + quote(l) + " EXIT" },
	func(l string) string { return "bash <(echo " + quote(l) + ")" },
	func(l string) string { return "source <(echo " + quote(l) + ")" },
	func(l string) string {
		return "echo " + base64.StdEncoding.EncodeToString([]byte(l)) + " | base64 -d | sh"
	},
	func(l string) string { return "coproc {\n" + l + "\n}; wait" },
	func(l string) string { return "true && {\n" + l + "\n} || true" },
	func(l string) string { return "time {\n" + l + "\n}" },
	func(l string) string { return "{\n" + l + "\n} &\nwait" },
	func(l string) string { return "while read -r l; do eval \"$l\"; done <<< " + quote(l) },
	func(l string) string { return "[[ -n $(\n" + l + "\n) ]]" },
	func(l string) string { return "set -- " + quote(l) + "; eval \"$1\"" },
	func(l string) string { return "a=(" + quote(l) + "); eval \"${a[0]}\"" },
	func(l string) string { return "python3 -c " + quote("import os; os.system("+pythonString(l)+")") },
	func(l string) string { return "cat > made.sh <<'EOM'\n" + l + "\nEOM\nbash made.sh" },
	func(l string) string { return "export -f ls; " + l },
	func(l string) string { return "ls >/dev/null; " + l },
	func(l string) string { return "cd sub; cd ..; " + l },
	func(l string) string { return "# a comment\n" + l },
}

func pythonString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// nest makes a line of random depth.
func nest(r *rand.Rand) string {
	line := payloads[r.IntN(len(payloads))]
	if r.IntN(2) == 0 {
		line = disguise(r, "curl") + " x"
	}
	return wrap(r, line)
}

// disguise writes a word so that bash reads it as it was.
func disguise(r *rand.Rand, text string) string {
	var b strings.Builder
	for _, c := range text {
		ways := []string{"%c", `\%c`, "'%c'", `"%c"`, "''%c", `""%c`, `$'\x%x'`, `$'\%o'`, `$'\u%04x'`, "${nothing}%c", "$()%c", "``%c", "\\\n%c", `$"%c"`, "${nothing:-%c}", "$(printf %c)", "{%c,}"}
		n := len(ways)
		if b.Len() > 0 {
			n-- // braces would multiply
		}
		fmt.Fprintf(&b, ways[r.IntN(n)], c)
	}
	return b.String()
}

func wrap(r *rand.Rand, line string) string {
	for range r.IntN(4) {
		line = wrappings[r.IntN(len(wrappings))](line)
	}
	return line
}

// spoil puts characters that mean something to bash into a line.
func spoil(r *rand.Rand, line string) string {
	const chars = "\\\"'$(){} \n;|&<#*?`!=@~[]\t+,^:-%1a"
	for range 1 + r.IntN(2) {
		at := r.IntN(len(line) + 1)
		line = line[:at] + string(chars[r.IntN(len(chars))]) + line[at:]
	}
	return line
}

// harm is what no line may do unasked, whatever else stands in it; what rm, git
// and npm do depends on their words, which spoiling changes.
var harm = regexp.MustCompile(`\b(curl|wget|sudo|dd|victim)\b`)

// spoiled makes a damaged line around a program that is dangerous whatever its
// words are.
func spoiled(r *rand.Rand) string {
	for r.IntN(2) == 0 {
		if line := grammar[r.IntN(len(grammar))]; !strings.Contains(line, "kill") { // nobody else's process
			return spoil(r, line)
		}
	}
	for {
		if line := payloads[r.IntN(len(payloads))]; harm.MatchString(line) || strings.Contains(line, "url") {
			return spoil(r, wrap(r, line))
		}
	}
}

// differ runs lines by bash and checks that whatever ran a dangerous program was
// asked about. It returns how many did.
func differ(t *testing.T, seed uint64, n int, counts *regexp.Regexp, line func(*rand.Rand) string) (ran int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	dir := field(t)
	for range n {
		text := line(r)
		asked := asks(shellcmd.Analyze(text, options(dir)))
		names, _ := run(t, text)
		if !counts.MatchString(names) {
			continue
		}
		ran++
		if !asked {
			t.Errorf("seed %d: bash runs %s, and nothing is asked about:\n%s", seed, names, text)
		}
	}
	return ran
}

// Dangerous commands are found at whatever depth and through whatever mixture.
func TestT16_NestedAttacksAreFound(t *testing.T) {
	t.Parallel()
	const n = 80
	if ran := differ(t, rand.Uint64(), n, regexp.MustCompile(`.`), nest); ran < n*3/4 {
		t.Errorf("only %d of %d lines ran their payload", ran, n)
	}
}

// Lines that are damaged at random mean to bash what they mean here.
func TestT16_SpoiledLinesMeanTheSameToBash(t *testing.T) {
	t.Parallel()
	const n = 150
	if ran := differ(t, rand.Uint64(), n, harm, spoiled); ran < n/40 {
		t.Errorf("only %d of %d lines ran a payload", ran, n)
	}
}

// hereDocument makes a line with a here-document whose end is hard to tell.
func hereDocument(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var b strings.Builder
	b.WriteString("cat " + pick("<<", "<<-", "<< ") + pick("E", `\E`, `'E'`, `"E"`, `$'E'`, `$"E"`, `E"F"`, `E\ F`, `"E F"`, `$E`, `${E}`, `''`, `"E`+"\\\n"+`"`, `E\\`, "E\\\nF", `"\E"`, `'$E'`) + pick("", "", "", "; true", " | cat", "; cat <<'E'") + "\n")
	for range 1 + r.IntN(3) {
		if r.IntN(2) == 0 {
			b.WriteString(pick("\\", `E\`, "x", `x\`, "'", `"`, "$(echo", ")", "# E", "`") + pick("\n", "\n", ""))
		}
		b.WriteString(pick("E", "E", "E", "\tE", "EF", "E F", "F", `\E`, `E\`, "$E", "${E}", `$'E'`, `$"E"`, "") + "\n" + pick("curl x\n", "curl x\n", ""))
	}
	return b.String()
}

// Here-documents end here where they end in bash, so that what follows is seen.
func TestT16_HereDocumentsEndWhereBashEndsThem(t *testing.T) {
	t.Parallel()
	const n = 120
	if ran := differ(t, rand.Uint64(), n, harm, hereDocument); ran < n/40 {
		t.Errorf("only %d of %d lines ran a payload", ran, n)
	}
}

// FuzzAgainstBash: no line that bash runs a dangerous program for has nothing to
// ask about. The seed makes the line.
func FuzzAgainstBash(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		makers := []func(*rand.Rand) string{nest, spoiled, hereDocument}
		counts := harm
		if seed%3 == 0 {
			counts = regexp.MustCompile(`.`) // the payload is whole
		}
		differ(t, seed, 1, counts, makers[seed%3])
	})
}
