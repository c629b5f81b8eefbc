package shell

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

const (
	// recordKind is the kind of a job's records in the log; the key is the job's id.
	recordKind = "job"
	// maxLabel and maxCommand are how many characters of a description and a command
	// are shown and noted.
	maxLabel, maxCommand = 60, 500
)

// record is what the log keeps of a job: one at its start, without a status, and one
// at its end.
type record struct {
	ID      string     `json:"id"`
	Label   string     `json:"label"`
	Command string     `json:"command"`
	Started time.Time  `json:"started"`
	File    string     `json:"file,omitempty"` // of the output, where it outlives the session
	Status  string     `json:"status,omitempty"`
	Exit    *int       `json:"exit_code,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	// Tell: the model is to be told, by a message with the job's key in the inbox.
	Tell bool `json:"tell,omitempty"`
}

func (j *job) record() record {
	r := record{ID: j.id, Label: j.label(), Command: clip(j.args.Command, maxCommand), Started: j.started.UTC()}
	if j.outlives() {
		r.File = j.file.Name()
	}
	if j.running() {
		return r
	}
	j.mu.Lock()
	over := j.over.UTC()
	j.mu.Unlock()
	r.Status, r.Exit, r.Ended = j.status(), j.exitCode(), &over
	return r
}

// label is the job in a few words, on one line.
func (j *job) label() string {
	return clip(strings.Join(strings.Fields(j.args.Description), " "), maxLabel)
}

// key is the dedupe key of the notice.
func (r record) key() string { return recordKind + ":" + r.ID }

// number is that of the id, 0 for one that is not ours.
func (r record) number() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(r.ID, "job-"))
	return n
}

// where says where the output of a job is that outlived its session.
func (r record) where() string {
	if r.File == "" {
		return ""
	}
	return "; what it printed is in " + r.File
}

func (b *board) put(ctx context.Context, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return b.access.PutRecord(ctx, recordKind, r.ID, data)
}

func clip(s string, chars int) string {
	if r := []rune(s); len(r) > chars {
		return string(r[:chars-1]) + "…"
	}
	return s
}
