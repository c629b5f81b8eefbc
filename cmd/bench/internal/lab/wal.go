package lab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
)

// Sizes in a SQLite write-ahead log.
const (
	walHeader   = 32
	frameHeader = 24
)

// Commits counts the transactions in the write-ahead log of the only session since
// it was last checkpointed. With synchronous=FULL each of them waited for the disk
// once.
func (s *Sandbox) Commits() (int, error) {
	wal, err := os.ReadFile(s.Session() + "-wal")
	if err != nil {
		return 0, fmt.Errorf("count commits: %w", err)
	}
	return countCommits(wal)
}

// countCommits counts the frames that end a transaction: they carry the size of
// the database after it. Frames of an earlier round have another salt.
func countCommits(wal []byte) (int, error) {
	if len(wal) == 0 {
		return 0, nil
	}
	if len(wal) < walHeader || binary.BigEndian.Uint32(wal)&^1 != 0x377f0682 {
		return 0, fmt.Errorf("count commits: %d bytes are no write-ahead log", len(wal))
	}
	frame := frameHeader + int(binary.BigEndian.Uint32(wal[8:]))
	salt := wal[16:24]
	commits := 0
	for at := walHeader; at+frame <= len(wal) && bytes.Equal(wal[at+8:at+16], salt); at += frame {
		if binary.BigEndian.Uint32(wal[at+4:]) != 0 {
			commits++
		}
	}
	return commits, nil
}
