package shellcmd

import (
	"strings"
)

// networkPrograms reach other machines whatever their words say.
var networkPrograms = set(`curl wget wget2 nc ncat netcat telnet ftp sftp tftp lftp ncftp ssh scp mosh autossh sshfs ssh-copy-id ssh-keyscan aria2c axel lynx w3m links elinks http https xh curlie socat
	nmap masscan dig nslookup host drill ping ping6 traceroute tracepath mtr whois gh glab hub aws gcloud gsutil az doctl heroku flyctl fly vercel netlify wrangler firebase s3cmd rclone mc smbclient
	kubectl helm oc k9s rsh rlogin rcp finger sendmail mail mailx mutt msmtp swaks nsupdate npx pnpx bunx uvx yt-dlp youtube-dl httpie grpcurl websocat wscat ngrok cloudflared tailscale
	svn cvs hg bzr fossil ansible ansible-playbook vagrant skopeo crane oras cosign terraform tofu pulumi eksctl redis-cli mongosh apt-key add-apt-repository snap flatpak choco winget scoop iperf iperf3 torsocks torify xdg-open gio scalar`)

// networkWords are programs that reach other machines under some subcommands.
var networkWords = map[string]map[string]bool{
	"npm":  set("install i ci add update upgrade up publish unpublish exec x create outdated audit view info show search login adduser install-test it dedupe pack-remote dist-tag token team ping in ins inst insta instal isnt isnta isntal isntall install-clean clean-install deprecate owner cache access star unstar profile hook org"),
	"pnpm": set("install i add update upgrade up publish dlx create outdated audit fetch import"),
	"yarn": set("install add upgrade up dlx create publish outdated audit npm global import"),
	"bun":  set("install i add update upgrade x create publish outdated"),
	"deno": set("x install add cache upgrade publish update outdated"),
	"pip":  set("install download wheel index search"), "pip3": set("install download wheel index search"), "pipx": set("install run upgrade upgrade-all inject reinstall"),
	"uv":     set("add sync lock tool python publish self"),
	"poetry": set("install add update publish lock self"), "pdm": set("install add update publish lock"), "pipenv": set("install update lock sync upgrade"), "hatch": set("publish"),
	"conda": set("install create update search"), "mamba": set("install create update search"), "micromamba": set("install create update search"), "easy_install": nil,
	"cargo": set("install fetch update publish add search login yank owner binstall audit"), "rustup": set("install update toolchain component target self default"),
	"gem": set("i install update push fetch outdated search"), "bundle": set("i install update add outdated"), "composer": set("req i u require remove install update require create-project outdated self-update"),
	"apt": set("install update upgrade full-upgrade dist-upgrade download source build-dep reinstall"), "apt-get": set("install update upgrade full-upgrade dist-upgrade download source build-dep reinstall dselect-upgrade"),
	"aptitude": set("install update upgrade full-upgrade safe-upgrade download"), "apk": set("add update upgrade fetch"), "yum": nil, "dnf": nil, "zypper": nil, "pacman": nil, "paru": nil, "yay": nil, "port": nil, "emerge": nil,
	"brew": set("install update upgrade tap fetch reinstall bundle search"), "nix": set("build run shell develop flake profile"), "nix-env": nil, "nix-shell": nil,
	"docker": set("deploy load import pull push login search run create build buildx"), "podman": set("pull push login search run create build"), "nerdctl": set("pull push login run create build"), "podman-compose": set("pull push up build run create"), "docker-compose": set("pull push up build run create"),
	"dotnet": set("add restore tool nuget workload"), "nuget": nil, "mvn": set("deploy dependency:get dependency:resolve release:perform"), "swift": set("package"), "pod": set("install update repo"),
	"luarocks": set("install download upload"), "cpan": nil, "cpanm": nil, "opam": set("install update upgrade"), "stack": set("install update upgrade setup"), "cabal": set("install update fetch get upload"),
	"mix": set("deps.get deps.update hex.publish archive.install"), "corepack": set("install prepare use enable"), "nvm": set("install"), "asdf": set("install update plugin"), "mise": set("install use upgrade"), "pyenv": set("install update"),
}

// destructivePrograms lose something whatever their words say.
var destructivePrograms = set(`shred dd wipefs fdisk sfdisk cfdisk gdisk sgdisk parted mkswap truncate srm wipe blkdiscard hdparm badblocks debugfs tune2fs resize2fs cryptsetup lvremove vgremove pvremove mdadm zpool zfs
	pkill killall killall5 skill slay xkill shutdown reboot halt poweroff init telinit kexec mount umount swapoff swapon insmod rmmod modprobe iptables ip6tables nft ufw firewall-cmd
	useradd userdel usermod groupadd groupdel groupmod passwd chpasswd visudo vipw chsh chfn setcap setfacl chattr sysctl dmsetup losetup update-rc.d launchctl unlink rimraf trash-empty`)

// privilegePrograms act as somebody else.
var privilegePrograms = set("sudo doas su pkexec runuser gosu su-exec sudoedit visudo chroot nsenter sg newgrp calife dzdo op super run0")

// vaguePrograms run what cannot be seen from here.
var vaguePrograms = set("vi vim nvim view ex ed emacs emacsclient gvim vimdiff rvim pico screen tmux byobu zellij abduco dtach crond anacron dbus-send gdbus busctl expect open start socat run-parts")

// quietPrograms do not run their words.
var quietPrograms = set(`echo printf grep egrep fgrep ag ack ls cat tac head tail wc uniq cut tr awk gawk mawk nawk sed gsed diff cmp comm file stat du df which whereis apropos whatis info touch mkdir rmdir cp mv ln tee basename dirname
	realpath readlink date test [ expr seq jq yq gzip gunzip unzip xz zcat bzip2 md5sum sha1sum sha256sum go gofmt goimports git npm pnpm yarn bun deno pip pip3 uv poetry cargo rustc rustup python python2 python3 node nodejs perl ruby php
	pytest tox mypy ruff black isort flake8 pylint eslint prettier tsc jest vitest mocha rm rmdir chmod chown chgrp kill pkill killall pgrep ps cd pwd true false : sleep exit return break continue shift hash type
	id whoami uname hostname lsof ss netstat journalctl column paste nl od xxd hexdump strings nm objdump ldd patch tree dpkg rpm apt apt-get apt-cache brew curl wget gh kubectl aws less more fold fmt pr join rev shuf sum cksum base64
	staticcheck golangci-lint clang gcc g++ cc c++ ld ar javac java mvn gradle sqlite3 psql mysql dd truncate shred export ssh scp rsync nc dig ping make`)

var flaggedNames = names()

// names are the programs that are looked for among the words of others.
func names() map[string]bool {
	all := set("tureen git rm chmod chown chgrp kill crontab systemctl service eval fuser")
	for _, m := range []map[string]bool{networkPrograms, destructivePrograms, privilegePrograms, shells, otherShells} {
		for n := range m {
			all[n] = true
		}
	}
	for n := range networkWords {
		all[n] = true
	}
	for n := range wrappers {
		all[n] = true
	}
	for _, common := range []string{"host", "http", "https", "open", "init", "make", "find", "sort", "split", "script", "time", "watch", "command", "exec", "at", "batch", "man", "docker", "op", "mc", "fly", "start", "port", "mail", "stack", "conda", "http", "test", "ts", "nice", "links", "su", "zip", "env", "builtin", "rg", "tar", "r", "rc", "es", "super", "hub", "parallel", "swift", "pod", "fd", "finger", "wipe", "az", "oc", "nix", "view", "mix", "mount", "cmd", "nu"} {
		delete(all, common) // words of any text; their command is found where it stands first
	}
	for _, needed := range []string{"env", "su", "find", "nice"} {
		all[needed] = true
	}
	return all
}

// concerns tells what gives reason to ask about a program with these words.
func (w *walker) concerns(base string, args []word) []Concern {
	var out []Concern
	add := func(kind Kind, why string) {
		if why != "" {
			out = append(out, Concern{kind, why})
		}
	}
	if w.itself(base) {
		out = append(out, steersItself(args)...)
	}
	if networkPrograms[base] && !(loopback[base] && w.stays(base, args)) {
		add(Network, "it reaches other machines")
	}
	if destructivePrograms[base] || strings.HasPrefix(base, "mkfs") || strings.HasPrefix(base, "mke2fs") || strings.HasPrefix(base, "newfs") {
		add(Destructive, "what it does cannot be undone")
	}
	if privilegePrograms[base] {
		add(Privilege, "it acts as another user")
	}
	if vaguePrograms[base] {
		add(Unclear, "it can run anything, and not all of that stands in the line")
	}
	if words, ok := networkWords[unversioned(base)]; ok {
		out = append(out, subcommand(words, unversioned(base), args)...)
	}
	if len(out) == 0 {
		out = append(out, settings(base, args)...)
	}
	w.products(base, args)
	out = append(out, w.particular(base, args)...)
	if len(out) == 0 {
		out = append(out, named(base, args)...)
	}
	out = append(out, w.gitPlace(base, args)...)
	w.touch(base, args)
	if copies[base] {
		for _, a := range args {
			if disk(a.text) {
				add(Destructive, "it writes to a disk")
			}
			if strings.Contains(a.text, "/") && commandLike(a.text) && flaggedNames[Base(a.text)] {
				add(Unclear, "it puts a program in another place")
			}
		}
		w.made(args)
	}
	return out
}

var copies = set("cp mv ln tee install dd cat rsync ditto scp ginstall gcp")

// made notes the files that a program makes of its words.
func (w *walker) made(args []word) {
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			w.written[Base(strings.TrimPrefix(a.text, "of="))] = true
		}
	}
}

// subcommand judges programs by the first word that is no option. What stands
// behind an option may be its value, so that the next word is looked at too.
func subcommand(words map[string]bool, base string, args []word) []Concern {
	network := []Concern{{Network, "it reaches other machines"}}
	if words == nil {
		return network
	}
	plain := 0
	for i, a := range args {
		switch {
		case a.hides(), a.unknown && strings.HasPrefix(a.text, Unknown):
			return []Concern{{Unclear, "what it is told to do is known only when it runs"}}
		case strings.HasPrefix(a.text, "-"), strings.HasPrefix(a.text, "+"):
			continue
		case base == "uv" && a.text == "pip":
			return subcommand(uvPip, "pip", args[i+1:])
		case (a.text == "image" || a.text == "container" || a.text == "stack" || a.text == "builder") && (base == "docker" || base == "podman" || base == "nerdctl"):
			return subcommand(words, base, args[i+1:])
		case a.text == "compose" && (base == "docker" || base == "nerdctl"):
			return subcommand(networkWords["docker-compose"], "docker-compose", args[i+1:])
		case words[a.text]:
			return network
		}
		if plain++; base != "mvn" && (i == 0 || !strings.HasPrefix(args[i-1].text, "-")) {
			return nil
		}
	}
	if (base == "yarn" || base == "bundle") && plain == 0 && !mentions(args, "--version", "-v", "--help") {
		return network // it installs
	}
	return nil
}

var uvPip = set("install sync compile download")
