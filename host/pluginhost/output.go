package pluginhost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	lineLimit   = 64 << 10 // bytes kept of a line
	tailLines   = 20       // lines of stderr kept for an error
	tailLine    = 300      // bytes kept of each
	logPerSec   = 200      // lines a second that a plugin may log
	firstLine   = 4 << 10  // bytes passed on of the first line of stdout
	logTruncate = " …(cut)"
)

// stdoutReader passes the first line on, which must be the handshake, and
// drains the rest, so that a plugin that prints never blocks.
type stdoutReader struct {
	handshake *io.PipeReader
	pass      *io.PipeWriter
	logger    *limitedLog

	mu   sync.Mutex
	line string // the first line, "" until it came
}

func newStdoutReader(logger *limitedLog) *stdoutReader {
	r, w := io.Pipe()
	return &stdoutReader{handshake: r, pass: w, logger: logger}
}

func (s *stdoutReader) drain(f *os.File) {
	defer s.end()
	first := true
	eachLine(f, func(line string) {
		if !first {
			s.logger.write(slog.LevelDebug, line, "stream", "stdout")
			return
		}
		first = false
		line = line[:min(len(line), firstLine)]
		s.mu.Lock()
		s.line = line
		s.mu.Unlock()
		_, _ = io.WriteString(s.pass, line+"\n") // an error means that nobody waits for it
	})
}

func (s *stdoutReader) end() { _ = s.pass.Close() }

func (s *stdoutReader) first() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

// stderrReader logs the lines and keeps the last ones for errors.
type stderrReader struct {
	logger *limitedLog

	mu   sync.Mutex
	tail []string
}

func (s *stderrReader) drain(f *os.File) {
	eachLine(f, func(line string) {
		level, message, fields := parseLine(line)
		s.keep(message)
		s.logger.write(level, message, fields...)
	})
}

func (s *stderrReader) keep(line string) {
	line = s.logger.mask(line)
	if len(line) > tailLine {
		line = line[:tailLine] + logTruncate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tail = append(s.tail, line); len(s.tail) > tailLines {
		s.tail = s.tail[1:]
	}
}

func (s *stderrReader) last() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.tail...)
}

// eachLine reads r to its end; what a line has over lineLimit is thrown away.
func eachLine(r io.Reader, f func(string)) {
	reader := bufio.NewReaderSize(r, lineLimit)
	for {
		line, more, err := reader.ReadLine()
		if err != nil {
			return
		}
		text := strings.ToValidUTF8(string(line), "\uFFFD")
		for cut := more; more && err == nil; {
			_, more, err = reader.ReadLine()
			if cut {
				text, cut = text+logTruncate, false
			}
		}
		f(text)
	}
}

// parseLine understands the JSON lines of slog and hclog; any other line is an
// info message as it stands.
func parseLine(line string) (slog.Level, string, []any) {
	var fields map[string]any
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &fields) != nil {
		return slog.LevelInfo, line, nil
	}
	take := func(names ...string) string {
		for _, n := range names {
			if text, ok := fields[n].(string); ok {
				delete(fields, n)
				return text
			}
		}
		return ""
	}
	message := take("msg", "@message", "message")
	if message == "" {
		return slog.LevelInfo, line, nil
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(strings.ToUpper(take("level", "@level")))) // info where it says nothing
	take("time", "@timestamp")
	return level, message, flat(fields)
}

// flat puts fields in order, as slog takes them.
func flat[V any](fields map[string]V) []any {
	args := make([]any, 0, 2*len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		args = append(args, name, fields[name])
	}
	return args
}

// limitedLog is a plugin's way into the host's log: masked and at a bounded rate.
type limitedLog struct {
	logger  *slog.Logger
	secrets *strings.Replacer

	mu      sync.Mutex
	second  int64
	lines   int
	dropped int
}

func newLimitedLog(logger *slog.Logger, secrets []string) *limitedLog {
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 6 { // shorter ones would hide ordinary words
			pairs = append(pairs, s, "[secret]")
		}
	}
	return &limitedLog{logger: logger, secrets: strings.NewReplacer(pairs...)}
}

func (l *limitedLog) mask(text string) string { return l.secrets.Replace(text) }

func (l *limitedLog) write(level slog.Level, message string, fields ...any) {
	dropped, ok := l.admit(time.Now().Unix())
	if dropped > 0 {
		l.logger.Warn("plugin logs too fast: lines dropped", "lines", dropped, "limit_per_second", logPerSec)
	}
	if !ok {
		return
	}
	for i, f := range fields {
		if text, is := f.(string); is {
			fields[i] = l.mask(text)
		}
	}
	l.logger.Log(context.Background(), level, l.mask(message), fields...)
}

// admit counts a line; it also tells how many of the second before were dropped.
func (l *limitedLog) admit(now int64) (dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now != l.second {
		dropped, l.dropped = l.dropped, 0
		l.second, l.lines = now, 0
	}
	if l.lines++; l.lines > logPerSec {
		l.dropped++
		return dropped, false
	}
	return dropped, true
}

// Write takes what a Go plugin prints after its start, through go-plugin.
func (l *limitedLog) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if text := strings.TrimRight(string(line), "\r\n"); text != "" {
			level, message, fields := parseLine(text)
			l.write(level, message, fields...)
		}
	}
	return len(p), nil
}
