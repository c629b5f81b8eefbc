package sqlitelog

import (
	"os"
	"time"
)

// outside is what a log's files look like without opening them. Whatever is committed
// changes it, as long as it has rested.
type outside struct{ db, wal file }

type file struct{ size, changed int64 } // bytes, nanoseconds since 1970; zero = it is not there

func look(path string) outside { return outside{lookAt(path), lookAt(path + "-wal")} }

func lookAt(path string) file {
	info, err := os.Stat(path)
	if err != nil {
		return file{}
	}
	return file{info.Size(), info.ModTime().UnixNano()}
}

// rest is more than the clock of a file system may lag behind, in steps of which it
// gives times. One that counts whole seconds is never believed.
const rest = 250 * time.Millisecond

// rested tells whether a change from now on cannot have the time of the last one.
func (o outside) rested(now time.Time) bool {
	newest := max(o.db.changed, o.wal.changed)
	return o.db.size > 0 && newest%int64(time.Second) != 0 && newest < now.Add(-rest).UnixNano()
}
