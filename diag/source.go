package diag

import "github.com/agentscript/agentscript/internal/text"

// Sources returns the text of a file by the name that positions carry.
type Sources interface {
	Source(file string) (text string, ok bool)
}

// SourceMap is a Sources that holds its texts.
type SourceMap map[string]string

// Source implements Sources.
func (m SourceMap) Source(file string) (string, bool) {
	text, ok := m[file]
	return text, ok
}

// SourceFunc is a function that implements Sources.
type SourceFunc func(file string) (string, bool)

// Source implements Sources.
func (f SourceFunc) Source(file string) (string, bool) { return f(file) }

// sourceLines caches the split text of the files that one rendering quotes.
type sourceLines struct {
	src   Sources
	files map[string][]string
}

// line returns the text of p's line without its end, or false if there is none.
func (s *sourceLines) line(p Pos) (string, bool) {
	if s.src == nil || !p.IsValid() {
		return "", false
	}
	lines, ok := s.files[p.File]
	if !ok {
		if all, found := s.src.Source(p.File); found {
			lines = text.Lines(all)
		}
		s.files[p.File] = lines
	}
	if p.Line > len(lines) {
		return "", false
	}
	return lines[p.Line-1], true
}
