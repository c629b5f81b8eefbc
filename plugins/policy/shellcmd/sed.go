package shellcmd

import "strings"

// sed looks for the commands of sed that run programs.
func (w *walker) sed(args []word) {
	scripts, empty := 0, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		option, value, attached := sedOption(a.text)
		if option != 0 {
			x := word{text: value, unknown: a.unknown, tainted: a.tainted}
			if !attached {
				if i++; i >= len(args) {
					return
				}
				x = args[i]
			}
			scripts++
			if option == 'e' {
				w.sedScript(x)
			} else if special(x.text) || x.text == "-" || x.process {
				w.unclear("sed", "it runs a text that is known only when it runs")
			} else {
				w.ran[Base(x.text)] = true
			}
			continue
		}
		if strings.HasPrefix(a.text, "-") && len(a.text) > 1 {
			continue
		}
		if scripts == 0 || empty { // an empty one may be the value of -i
			scripts, empty = 1, a.text == ""
			w.sedScript(a)
		}
	}
}

// sedOption finds the option of a word that takes a script ('e') or a file with
// one ('f'), 0 for none, and its value where that is attached.
func sedOption(text string) (option byte, value string, attached bool) {
	if strings.HasPrefix(text, "--") {
		name, value, attached := strings.Cut(text, "=")
		switch {
		case len(name) > 2 && strings.HasPrefix("--expression", name):
			return 'e', value, attached
		case len(name) > 3 && strings.HasPrefix("--file", name):
			return 'f', value, attached
		}
		return 0, "", false
	}
	if !strings.HasPrefix(text, "-") {
		return 0, "", false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case 'e', 'f':
			return text[i], text[i+1:], i+1 < len(text)
		case 'i', 'l':
			return 0, "", false
		}
	}
	return 0, "", false
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
	for _, file := range s.files {
		w.written[Base(file)] = true
	}
}

// sedReader reads a script of sed.
type sedReader struct {
	text  string
	at    int
	files []string // that it writes
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
		case strings.IndexByte("lqQL", c) >= 0:
			s.skip(" \t0123456789")
		case strings.IndexByte("aicrRwWbtT:v", c) >= 0:
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
	if strings.IndexByte("btTv:", c) >= 0 {
		s.skip(" \t")
		stops = "\n;} \t"
	}
	start := s.at
	for s.at < len(s.text) && strings.IndexByte(stops, s.text[s.at]) < 0 {
		if s.text[s.at] == '\\' {
			s.at++
		}
		s.at++
	}
	if s.at = min(s.at, len(s.text)); c == 'w' || c == 'W' {
		s.files = append(s.files, strings.TrimSpace(s.text[start:s.at]))
	}
}
