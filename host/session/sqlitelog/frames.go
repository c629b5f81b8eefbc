package sqlitelog

import (
	"encoding/binary"
	"io"
)

// What SQLite's file format says of a write-ahead log.
const (
	walHead   = 32
	frameHead = 24
	frameSize = frameHead + pageSize
	walMagic  = 0x377f0682 // and one more where its sums are of big-endian numbers
)

// frame is a page in a write-ahead log.
type frame struct {
	page   uint32
	at     int64 // of the page's bytes in the file
	commit bool  // a transaction ends here
	whole  bool  // it is as it was written, given the checksum of the frame before
}

// readFrames reads the frames of a write-ahead log that belong to it, up to the
// last end of a transaction. Where SQLite stops at the first frame that is not whole,
// this goes on: each frame is judged by the checksum that the one before it carries.
// Frames of an earlier use of the file are left out. whole tells whether the file's
// own head is.
func readFrames(f io.ReaderAt, size int64) (frames []frame, whole bool, err error) {
	var head [walHead]byte
	if size < walHead+frameSize {
		return nil, size == 0, nil
	}
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, false, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	magic := binary.BigEndian.Uint32(head[:])&^1 == walMagic
	if magic && head[3]&1 == 1 {
		order = binary.BigEndian
	}
	before := stored(head[24:])
	whole = magic && before == sum64{}.add(order, head[:24])
	salts := string(head[16:24])
	if !whole {
		salts = guessSalts(f, size)
	}
	buf := make([]byte, frameSize)
	last, ours := 0, true
	for at := int64(walHead); at+frameSize <= size; at += frameSize {
		if _, err := f.ReadAt(buf, at); err != nil {
			return nil, whole, err
		}
		fr := frame{page: binary.BigEndian.Uint32(buf), at: at + frameHead, commit: binary.BigEndian.Uint32(buf[4:]) != 0}
		same := string(buf[8:16]) == salts
		right := before.add(order, buf[:8]).add(order, buf[frameHead:]) == stored(buf[16:])
		before = stored(buf[16:])
		if ours = same || ours && right; !ours {
			continue
		}
		fr.whole = same && right
		if frames = append(frames, fr); fr.commit {
			last = len(frames)
		}
	}
	return frames[:last], whole, nil
}

// guessSalts finds the mark that frames of one use of the file have in common, where
// its head does not say: the first two in a row that agree.
func guessSalts(f io.ReaderAt, size int64) string {
	var none, one, two [8]byte
	for at := int64(walHead); at+frameSize <= size; at += frameSize {
		if _, err := f.ReadAt(two[:], at+8); err == nil && one == two && one != none {
			break
		}
		one = two
	}
	return string(two[:])
}

// torn tells whether frames were spoilt that had been synced: behind them lies a
// whole transaction, and behind that the beginning of another, which was not written
// before the first was on the medium. What a crash leaves of a last transaction is
// not torn.
func torn(frames []frame, whole bool) bool {
	bad, ended := !whole, false
	for _, f := range frames {
		switch {
		case !f.whole:
			bad, ended = true, false
		case ended:
			return true
		default:
			ended = bad && f.commit
		}
	}
	return false
}

// sum64 is SQLite's checksum of a write-ahead log.
type sum64 struct{ a, b uint32 }

func (s sum64) add(order binary.ByteOrder, data []byte) sum64 {
	for ; len(data) >= 8; data = data[8:] {
		s.a += order.Uint32(data) + s.b
		s.b += order.Uint32(data[4:]) + s.a
	}
	return s
}

func stored(b []byte) sum64 {
	return sum64{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}
