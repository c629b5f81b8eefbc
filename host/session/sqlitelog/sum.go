package sqlitelog

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/tureen-host/tureen/host/session"
)

// sumVersion is the first schema with sums, and with the index by kind.
const sumVersion = 3

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the CRC-32C of a stored event, as its column holds it: a signed number,
// which takes four bytes.
func sum(e session.Event) int64 {
	var buf [160]byte
	b := numbers(buf[:0], e.Seq, int64(e.V), e.Time.UnixNano(), int64(e.Turn), int64(e.Step), int64(len(e.Kind)))
	b = append(b, e.Kind...)
	if e.Op != nil {
		b = numbers(b, e.Op.From, e.Op.To, e.Op.After)
		b = append(b, e.Op.Kind...)
		b = append(b, 1) // there is one, if an empty one
	}
	return crc(b, e.Data)
}

// sumSnapshot is that of a snapshot.
func sumSnapshot(head int64, data []byte) int64 { return crc(numbers(nil, head), data) }

func crc(head, data []byte) int64 {
	return int64(int32(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data)))
}

func numbers(b []byte, n ...int64) []byte {
	for _, n := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

// badSum is the damage of an event that is not what its sum says.
func badSum(seq int64) error {
	return &session.Damage{From: seq, To: seq, What: "its bytes are not those that were stored (the checksum differs)"}
}
