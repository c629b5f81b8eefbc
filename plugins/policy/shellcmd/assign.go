package shellcmd

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign takes an assignment of the line, as a statement, before a command or in
// a declaration.
func (w *walker) assign(a *syntax.Assign) {
	if a.Index != nil {
		w.arithmetic(a.Index)
	}
	if a.Name == nil || a.Naked {
		return
	}
	name := a.Name.Value
	if commandTables[name] {
		w.unclear(name, "it changes which program a name stands for")
	}
	switch {
	case a.Array != nil:
		w.facts.anything(name)
		w.means(name, word{unknown: true, tainted: true})
		for _, e := range a.Array.Elems {
			w.later(w.one(e.Value))
			w.arithmetic(e.Index)
		}
	case a.Append:
		value := w.one(a.Value)
		w.later(value)
		w.facts.anything(name)
		if name == "PATH" {
			value.text = "$PATH" + value.text
		}
		w.means(name, value)
	case a.Value != nil && name == "PATH":
		w.means(name, w.path(a.Value))
	default:
		w.assigned(name, w.one(a.Value))
	}
}

// assigned notes that a variable gets a value.
func (w *walker) assigned(name string, value word) {
	if name == "" {
		return
	}
	w.later(value)
	if w.facts.integer && value.tainted {
		w.unclear(name, "it computes with what is known only when it runs")
	}
	w.facts.set(name, value)
	w.means(name, value)
}

// path reads a value of PATH; what it is made from may stay as it is written.
func (w *walker) path(value *syntax.Word) word {
	var b strings.Builder
	for _, p := range flat(value.Parts) {
		if x, ok := p.(*syntax.ParamExp); ok && simple(x) && (x.Param.Value == "PATH" || x.Param.Value == "HOME" || x.Param.Value == "PWD" && w.facts.values["PWD"] == nil && len(w.facts.dirs) == 1) && len(w.facts.valuesOf("HOME")) == 0 {
			b.WriteString("$" + x.Param.Value)
			continue
		}
		one := w.one(&syntax.Word{Parts: []syntax.WordPart{p}})
		b.WriteString(strings.ReplaceAll(one.text, "$", Unknown))
	}
	return word{text: b.String(), unknown: strings.Contains(b.String(), Unknown)}
}

func (f *facts) valuesOf(name string) []string {
	if v := f.values[name]; v != nil {
		return append(v.known, "")
	}
	return nil
}

// means records an assignment that changes what other commands do.
func (w *walker) means(name string, value word) {
	if why := w.changes(name, value); why != "" {
		w.record(Command{Written: name + "=" + value.text, Concerns: []Concern{{Unclear, why}}})
	}
}

// declare takes export, declare, local, readonly, typeset and nameref.
func (w *walker) declare(d *syntax.DeclClause) {
	for _, a := range d.Args {
		if a.Naked && a.Name == nil {
			w.facts.integer = w.facts.integer || flag([]word{w.one(a.Value)}, "i", "")
			if flag := w.one(a.Value); strings.HasPrefix(flag.text, "-") && strings.ContainsAny(flag.text, "n"+Unknown) && d.Variant.Value != "export" || flag.tainted {
				w.unclear(d.Variant.Value+" "+flag.text, "it makes names stand for other variables")
			}
			w.value(w.one(a.Value))
			w.scan(a.Value)
			continue
		}
		if a.Naked && d.Variant.Value == "nameref" {
			w.unclear("nameref", "it makes names stand for other variables")
		}
		w.scan(a)
	}
	if d.Variant.Value == "nameref" {
		w.unclear("nameref", "it makes names stand for other variables")
	}
}

// value takes a word that a builtin or env reads as NAME=VALUE.
func (w *walker) value(x word) {
	w.later(x)
	name, text, ok := strings.Cut(x.text, "=")
	if !ok {
		if strings.HasPrefix(x.text, Unknown) && x.tainted {
			w.unclear(x.text, "it sets a variable that is named only when the line runs")
		}
		return
	}
	name = strings.TrimSuffix(name, "+")
	if table, _, _ := strings.Cut(name, "["); commandTables[table] {
		w.unclear(name, "it changes which program a name stands for")
	}
	if strings.Contains(name, Unknown) {
		w.unclear(x.text, "it sets a variable that is named only when the line runs")
		return
	}
	value := x
	value.text = text
	value.unknown = strings.Contains(text, Unknown)
	w.facts.set(name, value)
	w.means(name, value)
}

// commandTables are arrays of bash by which names stand for programs.
var commandTables = set("BASH_CMDS BASH_ALIASES")

// proxies lead connections through other machines.
var proxies = set("HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY")

// altering variables make programs run other programs or other code.
var altering = set(`BASH_ENV ENV SHELLOPTS BASHOPTS PS0 PS1 PS2 PS4 PROMPT_COMMAND CDPATH FPATH SHELL GLOBSORT EXECIGNORE
	PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PERL5OPT PERL5DB PERL5LIB PERLLIB RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
	LUA_INIT GCONV_PATH OPENSSL_CONF OPENSSL_MODULES TAR_OPTIONS RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH LESSOPEN LESSCLOSE LESSEDIT SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR
	HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS DOCKER_HOST RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC BROWSER MANPAGER MANOPT NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_PREFIX
	GNUPGHOME LOADLIBES MAKEFILES RIPGREP_CONFIG_PATH DBUS_SESSION_BUS_ADDRESS CURL_HOME WGETRC NPM_CONFIG_NODE_OPTIONS PYTEST_ADDOPTS COMPILER_PATH GCC_EXEC_PREFIX HGRCPATH HGEDITOR VIMINIT EXINIT MYVIMRC NVIM_APPNAME BASH_COMPAT HISTFILE INPUTRC EMACSLOADPATH`)

// harmless values of a variable that names a program.
var harmless = set("cat true : less more vi vim nano ed false /bin/true /bin/false /usr/bin/true /bin/cat")

// harmlessGit are variables of git that run nothing.
var harmlessGit = set(`GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE GIT_TERMINAL_PROMPT
	GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS GIT_PAGER_IN_USE GIT_TRACE GIT_INDEX_FILE GIT_LITERAL_PATHSPECS GIT_ADVICE`)

// changes says what an assignment does to other commands, "" where that is nothing.
func (w *walker) changes(name string, value word) string {
	text := value.text
	upper := strings.ToUpper(name)
	switch {
	case name == "PATH":
		if w.safePath(text) {
			return ""
		}
		return "it changes where programs are looked for"
	case name == "IFS":
		// Fewer places to split at change no command; others may.
		return when(strings.Trim(text, " \t\n") != "", "it changes where words are split")
	case name == "PAGER", name == "EDITOR", name == "VISUAL", name == "GIT_PAGER", name == "GIT_EDITOR", name == "GIT_SEQUENCE_EDITOR":
		if text == "" || harmless[text] {
			return ""
		}
		return name + " names a program that others run"
	case strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "BASH_FUNC_"),
		strings.HasPrefix(name, "GIT_") && !harmlessGit[name], strings.HasPrefix(upper, "GIT_CONFIG"), altering[upper] && upper != "HOME" && upper != "SHELL":
		return name + " changes what other programs do"
	case name == "HOME", name == "SHELL":
		return name + " changes what other programs do"
	case upper == "GOTOOLCHAIN":
		return when(text != "" && text != "local", "it makes go fetch another version of itself")
	case proxies[upper]:
		w.facts.proxy = true
		return when(text != "", "connections go where "+name+" says")
	case upper == "NODE_OPTIONS":
		return unsafeIf(name, text, "-r", "require", "import", "loader", "eval", Unknown)
	case upper == "GOFLAGS", upper == "RUSTFLAGS", upper == "CGO_LDFLAGS", upper == "CGO_CFLAGS":
		return unsafeIf(name, text, "exec", "linker", "plugin", "wrapper", Unknown)
	case upper == "MAKEFLAGS", upper == "GNUMAKEFLAGS", upper == "MFLAGS":
		return unsafeIf(name, text, "eval", "f", "=", "I", Unknown)
	}
	if strings.ContainsAny(text, " /") || flaggedNames[Base(text)] {
		if c := w.sure(text); len(c) > 0 && len(name) > 1 && (upper == name) {
			return name + " holds a command: " + c[0].Why
		}
	}
	return ""
}

func unsafeIf(name, text string, parts ...string) string {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return name + " changes what other programs do"
		}
	}
	return ""
}

// safePath tells whether a PATH has only directories, besides those of before,
// that the line cannot write.
func (w *walker) safePath(text string) bool {
	kept := false
	for _, dir := range strings.Split(text, ":") {
		switch {
		case dir == "$PATH":
			kept = true
		case dir == "$PWD/node_modules/.bin":
		case strings.HasPrefix(dir, "$HOME/"), strings.HasPrefix(dir, "~/"):
			if _, rest, _ := strings.Cut(dir, "/"); w.o.Home == "" || strings.Contains(dir, Unknown) || w.inside(filepath.Join(w.o.Home, rest)) {
				return false
			}
		case !strings.HasPrefix(dir, "/") || strings.Contains(dir, Unknown) || w.inside(dir):
			return false
		}
	}
	return kept
}
