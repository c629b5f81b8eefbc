package compaction

import (
	"encoding/json"
	"strings"
)

// Bounds of what a strategy shows and stores at once. They are far beyond what one
// needs: a proposal that passes them is at fault.
const (
	MaxTextBytes = 8 << 20 // texts and data of records together
	MaxMessages  = 256     // that replacements put in
	MaxSections  = 64
	MaxMarks     = 64
	MaxSteers    = 16
	MaxRecords   = 1024
)

// RefusedBounds is the Refusal of more than these bounds allow.
const RefusedBounds Refusal = "bounds"

// RefusedRecord is the Refusal of a record that cannot be stored.
const RefusedRecord Refusal = "record"

// CheckOpening tells whether an opening may be shown and stored. An error is a
// *RefusedError.
func CheckOpening(o Opening) error {
	p := Proposal{Refresh: true, Sections: o.Sections, Marks: o.Marks, Records: o.Records}
	if err := checkBounds(0, p); err != nil {
		return err
	}
	return checkTexts(p)
}

// checkBounds checks how much a proposal for a surface of so many nodes holds, and
// what its records are.
func checkBounds(nodes int, p Proposal) error {
	messages, size := 0, len(p.Boot)
	for _, e := range p.Edits {
		if e.Replace == nil {
			continue
		}
		for _, m := range e.Replace.Messages {
			messages++
			if m != nil {
				size += len(m.Text())
			}
		}
	}
	for _, s := range p.Sections {
		size += len(s.Text)
	}
	for _, m := range p.Marks {
		size += len(m.Text)
	}
	for _, text := range p.Steer {
		size += len(text)
	}
	for _, r := range p.Records {
		size += len(r.Key) + len(r.Data)
	}
	for _, b := range []struct {
		what        string
		have, bound int
	}{
		{"edits", len(p.Edits), nodes}, {"messages", messages, MaxMessages}, {"sections", len(p.Sections), MaxSections}, {"marks", len(p.Marks), MaxMarks},
		{"steered messages", len(p.Steer), MaxSteers}, {"records", len(p.Records), MaxRecords}, {"bytes of text", size, MaxTextBytes},
	} {
		if b.have > b.bound {
			return refused(RefusedBounds, -1, "it holds %d %s, and at most %d are taken", b.have, b.what, b.bound)
		}
	}
	return checkRecords(p.Records)
}

func checkRecords(records []Record) error {
	for _, r := range records {
		if r.Kind == "" || strings.Contains(r.Kind, "/") || !json.Valid(r.Data) {
			return refused(RefusedRecord, -1, "record %q needs a kind without a slash, and JSON data", r.Kind)
		}
		if err := checkText(-1, "the name of a record", r.Kind+r.Key); err != nil {
			return err
		}
	}
	return nil
}
