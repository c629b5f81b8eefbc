package shellcmd_test

import (
	"testing"

	"github.com/tureen-host/tureen/plugins/policy/shellcmd"
)

// everyday are lines that an agent runs all day long.
var everyday = []string{
	`ls`, `ls -la`, `ls -la | wc -l`, `pwd`, `cat README.md`, `head -n 20 a.go`, `tail -f log.txt`, `wc -l *.go`, `file a.bin`, `stat a`, `du -sh .`, `df -h`, `tree -L 2`, `which go`, `command -v curl`, `type curl`, `which curl wget`,
	`grep -rn "curl" .`, `grep -r 'rm -rf' --include=*.sh .`, `rg sudo`, `find . -name '*.go'`, `find . -type f -name "*.ts" | head -20`, `find . -name '*.go' -exec grep -l TODO {} +`, `find . -name '*.go' | xargs grep -n TODO`, `find . -name '*.go' -print0 | xargs -0 wc -l`,
	`git status`, `git diff`, `git diff --stat HEAD~1`, `git log --oneline | head`, `git log -p -- a.go`, `git add -A`, `git add . && git commit -m "fix: rm the curl call"`, `git show HEAD:a.go`, `git branch`, `git branch -a`, `git checkout -b feature`, `git switch main`, `git stash`, `git stash pop`, `git blame a.go`,
	`git rev-parse HEAD`, `git -C sub status`, `git config user.name "A B"`, `git -c user.name=a -c user.email=b commit -m x`, `git reset HEAD a.go`, `git reset --soft HEAD~1`, `git rebase main`, `git merge feature`, `git tag v1`, `git init`, `git remote -v`, `git ls-files | head`, `git cherry-pick abc`, `git worktree list`, `git rm a.txt`, `git mv a b`, `for f in *.txt; do mv "$f" "${f%.txt}.md"; done`, `for f in $(git diff --name-only); do gofmt -l $f; done`, `VERSION=$(git describe --tags); go build -ldflags "-X main.v=$VERSION"`, `find . -name '*.js' -exec sh -c 'node --check "$1"' _ {} \;`, `a=(1 2 3); for x in "${a[@]}"; do echo $x; done`, `declare -A m; m[a]=1; echo ${m[a]}`, `git restore --staged a.go`, `git clean -n`, `GIT_PAGER=cat git log -3`, `git --no-pager diff`, `git rev-parse --show-toplevel`,
	`go test ./...`, `go test ./... 2>&1 | tail -50`, `go build -o bin/app ./cmd/app`, `go vet ./...`, `go run .`, `go run ./cmd/curl`, `gofmt -l .`, `go mod tidy`, `go list -m all`, `go install ./cmd/app`, `go test -run TestX -count=1 ./pkg`, `CGO_ENABLED=0 go build ./...`, `GOOS=linux GOARCH=arm64 go build`, `go doc net/http`, `go generate ./...`,
	`make`, `make test`, `make -j4 all`, `make CC=clang`, `make VERBOSE=1 lint`, `cmake -B build && cmake --build build`, `cargo build`, `cargo test -- --nocapture`, `cargo clippy`, `cargo run`, `rustc a.rs`, `npm test`, `npm run build`, `npm run lint -- --fix`, `pnpm test`, `yarn build`, `yarn test`, `bun test`, `node index.js`, `node -e 'console.log(1)'`, `node --version`, `tsc --noEmit`,
	`python3 -c 'print(1)'`, `python script.py --flag`, `python -m pytest -q`, `python3 -m venv .venv`, `python3 -m json.tool a.json`, `pytest tests/ -k "not slow"`, `pip list`, `pip freeze > requirements.txt`, `uv run pytest`, `ruff check .`, `mypy src`, `black --check .`, `PYTHONPATH=. pytest`, `. .venv/bin/activate && pytest`, `source .venv/bin/activate`,
	"python3 - <<'EOF'\nimport json\nprint(json.dumps({'a': 1}))\nEOF", `cat a.json | python3 -m json.tool`, `echo '{"a":1}' | jq .a`, `jq -r '.[] | .name' a.json`, `awk '{print $1}' a.txt`, `awk -F: '$3 > 100 || $4 < 2 {print $1}' a.txt`, `ls -l | awk '{s+=$5} END {print s}'`, `sed -n '1,20p' a.go`, `sed -i 's/foo/bar/g' a.go`, `sed -e 's/[/]/-/g' -e '/^#/d' a`, `sed 's|/old/path|/new/path|' a`, `sort a | uniq -c | sort -rn`, `cut -d, -f1 a.csv`, `tr a-z A-Z < a`, `diff -u a b`, `xxd a | head`, `base64 a`, `md5sum a`, `tar czf a.tgz src`, `tar xf a.tgz`, `unzip -l a.zip`, `gzip -d a.gz`,
	`mkdir -p a/b`, `touch a`, `cp a b`, `cp -r a b`, `mv a b`, `ln -s a b`, `chmod +x run.sh`, `chmod 644 a`, `rmdir a`, `rm a.txt`, `rm ./sub/a.txt b.txt`, `cd sub && ls`, `cd sub && go test ./...`, `cd sub && rm a.o`, `(cd sub && make)`, `tee out.log`, `make 2>&1 | tee out.log`,
	`for f in *.go; do echo "$f"; done`, `for f in *.go; do gofmt -l "$f"; done`, `for i in 1 2 3; do echo $i; done`, `for i in $(seq 1 5); do echo "$i"; done`, `for d in a b c; do (cd $d && go test ./...); done`, `for f in a b; do echo x > "$f.txt"; done`, `while read -r line; do echo "$line"; done < a.txt`, `cat a.txt | while read -r l; do echo "got $l"; done`, `i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done`, `for ((i=0;i<3;i++)); do echo $i; done`, `if [ -f a ]; then cat a; else echo none; fi`, `[[ -d src ]] && ls src`, `case "$1" in a) echo a;; *) echo b;; esac`, `test -e a || touch a`,
	"cat > a.txt <<'EOF'\nhello $(curl x) `rm -rf /`\nEOF", "cat > a.sh <<'EOF'\n#!/bin/sh\ncurl http://x | sh\nEOF", "cat <<EOF > a.txt\nhome is $HOME\nEOF", "cat >> a.md <<'EOF'\n# Title\nEOF", `echo hi > a.txt`, `echo hi >> a.txt`, `printf '%s\n' a b > c`, `echo "curl is a program"`, `echo 'sudo rm -rf /'`, `echo "$PATH"`, `echo ${HOME}/x`, `echo $((1+2))`, `x=1; echo $((x+1))`, `n=$(wc -l < a); echo $((n * 2))`, `start=$(date +%s); make; echo $(( $(date +%s) - start ))`, `echo {1..10}`, `echo a{b,c}`, `date +%F`, `sleep 1`, `true`, `:`, `exit 1`, `env | sort`, `printenv PATH`, `export A=b; ./run`, `A=b ./run.sh x`, `export PATH=$PATH:/usr/local/go/bin && go version`, `export PATH="$HOME/go/bin:$PATH"; staticcheck ./...`, `set -e; go build ./...`, `set -euo pipefail; make`, `set -x; make`,
	`bash -c 'go test ./...'`, `sh -c "ls | wc -l"`, `bash run.sh`, `bash -n run.sh`, `sh ./scripts/build.sh --fast`, `./run.sh`, `./gradlew test`, `mvn test`, `bash < run.sh`, `echo 'ls' | sh`, "bash <<'EOF'\nset -e\ngo build ./...\nEOF", `timeout 60 go test ./...`, `time go build ./...`, `nohup ./server > server.log 2>&1 &`, `nice -n 10 make`, `env A=b go test ./...`, `xargs -n1 echo < a`, `ls | xargs -I{} echo {}`, `docker ps`, `docker compose ps`, `docker compose logs -f app`, `yarn --version`, `uv pip list`, `cargo +nightly test`, `npm run install-hooks`, `go env GOPATH`, `docker logs app`, `docker exec app ls`, `ps aux | grep node`, `lsof -i :8080`, `pgrep -f server`, `./server & pid=$!; sleep 1; kill $pid`, `sleep 5 & kill %1`, `kill -0 123`, `trap 'echo done' EXIT; make`, `tmp=$(mktemp -d); cp a "$tmp"; ls "$tmp"`, `dir=$(pwd); find "$dir" -type f`, `diff <(sort a) <(sort b)`, `cat a 2>/dev/null || true`, `ls >/dev/null 2>&1`, `f() { echo "$1"; }; f x`, `man ls | head`, `systemctl status nginx`, `crontab -l`, `tar --exclude=.git -czf a.tgz .`, `sqlite3 a.db 'select 1'`, `while IFS= read -r f; do echo "$f"; done < <(find . -name '*.go')`, `IFS=: read -ra parts <<< "$PATH"; echo ${#parts[@]}`, `x="a b"; echo "$x"`, `read -r a b <<< "1 2"; echo $a`, `bash --version`, `java -jar a.jar`, `javac A.java`, `gcc -o a a.c -lm && ./b`, `git diff | grep '^+' | wc -l`, `NO_COLOR=1 npm test`, `NODE_ENV=test NODE_OPTIONS=--max-old-space-size=4096 npm test`, `GOFLAGS=-mod=mod go build ./...`, `LC_ALL=C sort a`, `ls ~/.config`, `uname -a`, `whoami`, `history`, `alias`, `python3 -c 'import sqlite3; sqlite3.connect("a").execute("select 1")'`, `python3 -c "import re; print(re.compile('a').match('a'))"`, `node -e 'process.exit(0)'`, `perl -pe 's/a/b/' a`, `ruby -e 'puts 1'`,
}

// Nothing of it is asked about.
func TestT16_EverydayCommandsAreNotAskedAbout(t *testing.T) {
	t.Parallel()
	dir := field(t)
	for _, text := range append(everyday[:len(everyday):len(everyday)], plainly...) {
		if line := shellcmd.Analyze(text, options(dir)); asks(line) {
			for _, c := range line.Commands {
				if len(c.Concerns) > 0 {
					t.Errorf("%q: %q: %v", text, c.Text(), c.Concerns)
				}
			}
		}
	}
	if len(everyday) < 60 {
		t.Errorf("the table has %d rows", len(everyday))
	}
}
