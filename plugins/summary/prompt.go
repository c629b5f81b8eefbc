package summary

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxPrompt bounds the instruction that a user writes.
const maxPrompt = 64 << 10

// readPrompt reads the instruction of prompt_file.
func readPrompt(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("the path is not absolute; write it so, or begin it with ~/")
	}
	info, err := os.Stat(path) // before opening: a pipe would block
	if err != nil {
		return "", cause(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPrompt+1))
	switch {
	case err != nil:
		return "", cause(err)
	case len(data) > maxPrompt:
		return "", fmt.Errorf("it is larger than %d KiB; an instruction is a page or two", maxPrompt>>10)
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", errors.New("it is not UTF-8 text")
	case strings.TrimSpace(string(data)) == "":
		return "", errors.New("it is empty; leave the key out to use the shipped instruction")
	}
	return string(data), nil
}

// cause is an error without the path, which the caller names.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
