package shellcmd

import (
	"strings"
)

var (
	gitNetwork = set("upload-pack receive-pack fetch pull push clone ls-remote send-email svn p4 lfs annex fetch-pack send-pack request-pull http-fetch http-push remote-http remote-https credential daemon imap-send upload-archive archimport cvsimport")
	// gitKnown are the other commands of git; what is not among them may be an alias.
	gitKnown = set(`add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean column commit commit-graph commit-tree
		config count-objects describe diff diff-files diff-index diff-tree difftool fast-export fast-import filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep hash-object help index-pack init
		interpret-trailers log ls-files ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree mergetool mktag mktree mv name-rev notes pack-objects pack-refs patch-id prune prune-packed range-diff
		read-tree rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule switch symbolic-ref tag
		unpack-file unpack-objects update-index update-ref var verify-commit verify-pack verify-tag version whatchanged worktree write-tree diff-pairs refs backfill replay`)
	gitValued = set("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds")
	// gitSafeKeys are beginnings of settings that run nothing.
	gitSafeKeys = []string{"user.name", "user.email", "color.", "advice.", "log.", "core.quotepath", "core.autocrlf", "core.abbrev", "core.filemode", "core.ignorecase", "core.eol", "core.safecrlf", "core.longpaths", "core.commentchar",
		"init.defaultbranch", "commit.gpgsign", "tag.gpgsign", "gc.auto", "diff.algorithm", "diff.noprefix", "diff.renames", "diff.mnemonicprefix", "diff.context", "merge.conflictstyle", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote",
		"rebase.autostash", "rebase.autosquash", "fetch.prune", "rerere.enabled", "status.", "column.", "branch.autosetup", "format.pretty", "grep.linenumber", "i18n.", "feature.", "index.version", "safe.directory"}
)

// git judges a command of git.
func (w *walker) git(args []word) []Concern {
	var out []Concern
	var in []string // the values of -C
	add := func(kind Kind, why string) { out = append(out, Concern{kind, why}) }
	for len(args) > 0 && (strings.HasPrefix(args[0].text, "-") || args[0].hides()) {
		a := args[0]
		name, value, attached := strings.Cut(a.text, "=")
		width := 1
		if gitValued[a.text] && len(args) > 1 {
			width, value = 2, args[1].text
		} else if strings.HasPrefix(name, "-c") && !strings.HasPrefix(name, "--") {
			name, value = "-c", a.text[2:]
		}
		switch {
		case a.hides():
			add(Unclear, "some of its words are known only when it runs, and may be options")
		case name == "-c" && !gitSafe(value), name == "--config-env", name == "--exec-path" && attached:
			add(Unclear, "it sets "+value+" for git, which may run another program")
		case name == "--git-dir", name == "--work-tree":
			add(Unclear, "it takes its settings or files from another place, "+value)
		case name == "-C":
			in = append(in, value)
		}
		args = args[width:]
	}
	if len(args) == 0 {
		return out
	}
	sub, rest := args[0], args[1:]
	switch {
	case sub.unknown || sub.expanded && sub.tainted:
		add(Unclear, "what it is told to do is known only when it runs")
	case gitNetwork[sub.text]:
		add(Network, "it reaches other machines")
		out = append(out, gitPush(sub.text, rest)...)
	case !gitKnown[sub.text]:
		add(Unclear, "git has no such command; it may be an alias")
	default:
		out = append(out, w.gitLocal(sub.text, rest, in)...)
	}
	return out
}

func gitSafe(setting string) bool {
	key, value, _ := strings.Cut(strings.ToLower(setting), "=")
	if strings.Contains(key, Unknown) {
		return false
	}
	if key == "core.pager" || key == "core.editor" || key == "sequence.editor" || strings.HasPrefix(key, "pager.") {
		return harmless[value]
	}
	for _, safe := range gitSafeKeys {
		if key == safe || strings.HasSuffix(safe, ".") && strings.HasPrefix(key, safe) || safe == "branch.autosetup" && strings.HasPrefix(key, safe) {
			return true
		}
	}
	return false
}

func gitPush(sub string, rest []word) []Concern {
	if sub == "push" && (flag(rest, "fd", "--force") || flag(rest, "", "--force-with-lease") || flag(rest, "", "--mirror") || flag(rest, "", "--delete") || flag(rest, "", "--prune") ||
		some(rest, func(a word) bool { return strings.HasPrefix(a.text, "+") || strings.HasPrefix(a.text, ":") })) {
		return []Concern{{Destructive, "it replaces or removes what others have"}}
	}
	return nil
}

// gitSensitive are commands whose options decide whether something is lost.
var gitSensitive = set("reset clean checkout switch restore branch stash rm worktree reflog gc prune update-ref filter-branch rebase bisect submodule remote config difftool grep tag")

// gitLocal judges commands that stay on the machine.
func (w *walker) gitLocal(sub string, rest []word, in []string) []Concern {
	lost := []Concern{{Destructive, "it discards work that git does not keep"}}
	runs := []Concern{{Unclear, "it runs other commands"}}
	dirty := func(short string, long ...string) bool {
		for _, l := range long {
			if flag(rest, "", l) {
				return true
			}
		}
		return short != "" && flag(rest, short, "")
	}
	switch {
	case sub == "reset" && dirty("", "--hard", "--merge", "--keep"),
		sub == "clean" && !dryClean(rest),
		sub == "checkout" && w.checksOutFiles(rest, in),
		(sub == "merge" || sub == "am" || sub == "rebase" || sub == "revert" || sub == "cherry-pick") && dirty("", "--abort"),
		sub == "apply" && dirty("R", "--reverse"),
		sub == "checkout" && (dirty("fB", "--force", "--ours", "--theirs", "--pathspec-from-file") || mentions(rest, "--", ".", "..", "./", ":/", "*", ":") || some(rest, func(a word) bool { return a.glob || strings.HasPrefix(a.text, ":") })),
		sub == "switch" && dirty("fC", "--force", "--discard-changes", "--force-create"),
		sub == "restore" && !stagedOnly(rest),
		sub == "branch" && (dirty("DMCf", "--force") || dirty("d", "--delete") && dirty("f", "--force")),
		sub == "stash" && mentions(rest, "drop", "clear"),
		sub == "rm" && dirty("fr", "--force"),
		sub == "worktree" && mentions(rest, "remove", "prune"),
		sub == "reflog" && mentions(rest, "expire", "delete"),
		sub == "gc" && dirty("", "--prune"), sub == "prune", sub == "update-ref", sub == "filter-branch", sub == "checkout-index" && dirty("f", "--force"), sub == "read-tree" && dirty("", "--reset"):
		if sub == "filter-branch" {
			return append(lost, runs...)
		}
		return lost
	case sub == "submodule" && (len(rest) > 0 && mentions(rest, "update", "add", "set-url", "init", "sync")):
		return []Concern{{Network, "it reaches other machines"}}
	case sub == "remote" && mentions(rest, "add", "set-url", "rename", "remove", "rm"):
		return []Concern{{Unclear, "it changes where git sends and fetches"}}
	case sub == "remote" && mentions(rest, "update", "prune", "show"), sub == "remote" && dirty("f", "--fetch"), sub == "archive" && dirty("", "--remote"), sub == "maintenance" && mentions(rest, "prefetch"):
		return []Concern{{Network, "it reaches other machines"}}
	case sub == "bisect" && mentions(rest, "run", "view", "visualize"), sub == "submodule" && mentions(rest, "foreach"), sub == "rebase" && dirty("x", "--exec"), sub == "for-each-repo",
		sub == "difftool", sub == "mergetool", sub == "grep" && dirty("O", "--open-files-in-pager"), sub == "archive" && dirty("", "--exec"), mentions(rest, "--ext-diff") || dirty("", "--ext-diff"),
		sub == "help" && dirty("w", "--web"), sub == "init" && dirty("", "--template"), sub == "interpret-trailers":
		for i := range rest {
			w.search(rest[i:])
		}
		return runs
	case sub == "config":
		return gitConfig(rest)
	case sub == "rev-parse" && mentions(rest, "--git-dir", "--absolute-git-dir", "--git-common-dir", "--git-path"):
		w.facts.gitDir = true
	case gitSensitive[sub] && hidesAny(rest):
		return unsure(rest)
	}
	return nil
}

// gitConfig judges settings that stay.
func gitConfig(rest []word) []Concern {
	if len(rest) > 0 && (rest[0].text == "get" || rest[0].text == "list") {
		return nil
	}
	var plainWords []string
	for i, a := range rest {
		switch {
		case i > 0 && (rest[i-1].text == "--comment" || rest[i-1].text == "-f" || rest[i-1].text == "--file" || rest[i-1].text == "--type" || rest[i-1].text == "--value" || rest[i-1].text == "--default" || rest[i-1].text == "--blob"):
		case gitConfigReads[a.text]:
			return nil // with another action besides, git refuses
		case !strings.HasPrefix(a.text, "-") && (i > 0 || a.text != "set" && a.text != "unset"):
			plainWords = append(plainWords, a.text)
		}
	}
	switch {
	case flag(rest, "", "--rename-section"), flag(rest, "", "--remove-section"), len(rest) > 0 && (rest[0].text == "rename-section" || rest[0].text == "remove-section"):
		return []Concern{{Unclear, "it changes a whole section of the settings of git"}}
	case flag(rest, "e", "--edit"), mentions(rest, "edit"), hidesAny(rest):
		return []Concern{{Unclear, "what it sets for git is known only when it runs"}}
	case len(plainWords) > 1 && !gitSafe(plainWords[0]+"="+plainWords[1]):
		return []Concern{{Unclear, "it sets " + plainWords[0] + " for git, which may run another program later"}}
	}
	return nil
}

// gitConfigReads are options with which git config only shows something.
var gitConfigReads = set("--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l --unset --unset-all")
