package sqlitelog_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	words := strings.Fields(`the of and func return error context session string int for range if nil err package import struct type interface map slice chan select case default go defer panic recover make new append len cap copy delete close print written here read again everybody knows heart window reset pressure summary prune truncate budget token model request response stream index trigram sqlite journal page leaf overflow payload header varint checksum salvage damage repair fold surface node system prompt tool result call`)
	for _, opt := range []string{"detail='none', columnsize=0", } {
		p := "/tmp/zz_fts/x.db"
		os.Remove(p); os.Remove(p+"-wal"); os.Remove(p+"-shm")
		db, err := sql.Open("sqlite", "file:"+p+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)")
		if err != nil { t.Fatal(err) }
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(`CREATE VIRTUAL TABLE w USING fts5(t, content='', tokenize='trigram case_sensitive 1', ` + opt + `)`); err != nil { t.Fatal(err) }
		r := rand.New(rand.NewPCG(1, 2))
		n, bytes := 0, 0
		began := time.Now()
		for tx := 0; tx < 100; tx++ {
			x, _ := db.Begin()
			st, _ := x.Prepare(`INSERT INTO w(rowid, t) VALUES (?, ?)`)
			for range 400 {
				n++
				var b strings.Builder
				if n%2 == 0 {
					fmt.Fprintf(&b, "read {\"file_path\":\"part-%d.txt\"}", r.IntN(1<<20))
				} else {
					fmt.Fprintf(&b, "%d: ", r.IntN(1<<20))
					for range 45 { b.WriteString(words[r.IntN(len(words))]); b.WriteByte(' ') }
				}
				bytes += b.Len()
				if _, err := st.Exec(n, b.String()); err != nil { t.Fatal(err) }
			}
			if err := x.Commit(); err != nil { t.Fatal(err) }
		}
		took := time.Since(began)
		var size int64
		db.Exec(`PRAGMA wal_checkpoint(truncate)`)
		fi, _ := os.Stat(p); size = fi.Size()
		t.Logf("%s: %d docs %d bytes in %v; %d µs a doc, %.1f MB/s; index %d, %.1f bytes a doc, %.2f of text", opt, n, bytes, took, took.Microseconds()/int64(n), float64(bytes)/1e6/took.Seconds(), size, float64(size)/float64(n), float64(size)/float64(bytes))
		for _, q := range []string{"part-12345.txt", "written here", "zebra crossing", "nil error", "pagecopy", "prompt tool result index"} {
			var ands []string
			for i := 0; i+3 <= len(q); i++ { ands = append(ands, `"`+q[i:i+3]+`"`) }
			began := time.Now()
			rows, err := db.Query(`SELECT rowid FROM w WHERE w MATCH ? AND rowid < 1000000 ORDER BY rowid DESC LIMIT 100`, strings.Join(ands, " AND "))
			if err != nil { t.Fatal(err) }
			c := 0
			for rows.Next() { c++ }
			rows.Close()
			t.Logf("%q: %d in %v", q, c, time.Since(began))
		}
		db.Close()
	}
}
