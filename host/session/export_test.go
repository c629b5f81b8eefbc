package session

import (
	"bufio"
	"io"
)

// LineOf reads the first line of r, of at most so many bytes.
func LineOf(r io.Reader, most int) error {
	_, err := nextLine(bufio.NewReader(r), nil, most)
	return err
}
