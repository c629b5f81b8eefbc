package shellcmd

import "strings"

// sed looks for the commands of sed that run programs.
func (w *walker) sed(args []word) {
	scripts := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case (a.text == "-e" || a.text == "--expression") && i+1 < len(args):
			i++
			scripts++
			w.sedScript(args[i])
		case strings.HasPrefix(a.text, "--expression="):
			scripts++
			w.sedScript(word{text: a.text[len("--expression="):], unknown: a.unknown, tainted: a.tainted})
		case (a.text == "-f" || a.text == "--file") && i+1 < len(args), strings.HasPrefix(a.text, "--file="):
			scripts++
			file := args[i]
			if _, value, attached := strings.Cut(a.text, "="); attached {
				file.text = value
			} else {
				i++
				file = args[i]
			}
			if special(file.text) || file.text == "-" || file.process {
				w.unclear("sed", "it runs a text that is known only when it runs")
			}
		case strings.HasPrefix(a.text, "-") && len(a.text) > 1:
			if !strings.HasPrefix(a.text, "--") && strings.HasSuffix(a.text, "e") && i+1 < len(args) {
				i++
				scripts++
				w.sedScript(args[i])
			}
		case scripts == 0:
			scripts++
			w.sedScript(a)
		}
	}
}

func (w *walker) sedScript(script word) {
	if script.tainted && strings.HasPrefix(script.text, Unknown) {
		w.unclear("sed", "its script is known only when it runs")
		return
	}
	s := &sedReader{text: script.text}
	if s.runs() {
		w.unclear("sed", "its script may start other programs")
	}
}

// sedReader reads a script of sed.
type sedReader struct {
	text string
	at   int
}

// runs tells whether a command of the script runs programs, or cannot be told.
func (s *sedReader) runs() bool {
	for {
		s.skip(" \t\n;{}!")
		if s.at >= len(s.text) {
			return false
		}
		if !s.address() {
			return true
		}
		s.skip(" \t!{;\n")
		if s.at >= len(s.text) {
			return false
		}
		c := s.text[s.at]
		s.at++
		switch {
		case c == 'e':
			return true
		case c == 's' || c == 'y':
			if bad := s.substitute(c); bad {
				return true
			}
		case strings.IndexByte("aicrRwWbtT:vlqQL", c) >= 0:
			s.restOfLine(c)
		case c == '#':
			s.restOfLine('a')
		case strings.IndexByte("dDgGhHnNpPxz=}F", c) < 0:
			return true
		}
	}
}

func (s *sedReader) skip(chars string) {
	for s.at < len(s.text) && strings.IndexByte(chars, s.text[s.at]) >= 0 {
		s.at++
	}
}

// address skips addresses; it tells whether they could be read.
func (s *sedReader) address() bool {
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c >= '0' && c <= '9', strings.IndexByte("$,~+ \t"+Unknown, c) >= 0:
			s.at++
		case c == '/' || c == '\\':
			if c == '\\' {
				s.at++
			}
			if s.at >= len(s.text) || !s.delimited(s.text[s.at], 1) {
				return false
			}
			s.skip("IM")
		default:
			return true
		}
	}
	return true
}

// delimited skips n parts after a delimiter. In the first, a delimiter between
// brackets is none.
func (s *sedReader) delimited(d byte, n int) bool {
	s.at++
	for first := true; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\':
			s.at++
		case c == '[' && first && d != '[':
			s.class()
		case c == d:
			first = false
			if n--; n == 0 {
				s.at++
				return true
			}
		}
	}
	return false
}

// class skips a bracket expression, and stays at its end.
func (s *sedReader) class() {
	end := s.at + 1
	if end < len(s.text) && s.text[end] == '^' {
		end++
	}
	if end < len(s.text) && s.text[end] == ']' {
		end++
	}
	for end < len(s.text) && s.text[end] != ']' {
		if s.text[end] == '[' && end+1 < len(s.text) && strings.IndexByte(":.=", s.text[end+1]) >= 0 {
			if close := strings.Index(s.text[end+2:], s.text[end+1:end+2]+"]"); close >= 0 {
				end += close + 3
			}
		}
		end++
	}
	s.at = end
}

// substitute reads s or y; it tells whether the flag e is there.
func (s *sedReader) substitute(c byte) bool {
	if s.at >= len(s.text) || !s.delimited(s.text[s.at], 2) {
		return true
	}
	for c == 's' && s.at < len(s.text) && strings.IndexByte(" \t;\n}", s.text[s.at]) < 0 {
		switch f := s.text[s.at]; {
		case f == 'e':
			return true
		case f == 'w':
			s.restOfLine('w')
			return false
		case strings.IndexByte("gpiIMm0123456789", f) < 0:
			return true
		}
		s.at++
	}
	return false
}

// restOfLine skips what a command takes: to the end of the line, or of the command.
func (s *sedReader) restOfLine(c byte) {
	stops := "\n"
	if strings.IndexByte("btTvlqQL:", c) >= 0 {
		stops = "\n;}"
	}
	for s.at < len(s.text) && strings.IndexByte(stops, s.text[s.at]) < 0 {
		if s.text[s.at] == '\\' {
			s.at++
		}
		s.at++
	}
}
