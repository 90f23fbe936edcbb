package coerce

import (
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/jsonstr"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// Raw is the text of a node as it was written.
func (c *Coercer) Raw(n *tape.Node) string { return c.Docs[n.Doc][n.Start:n.End] }

// Str is the string that a node holds.
func (c *Coercer) Str(at int) string {
	n := &c.Tape[at]
	s := c.Raw(n)
	if n.IsVerbatim() && n.Kind != tape.NodeConcat {
		return s
	}
	c.Visits += len(s)
	switch n.Kind {
	case tape.NodeConcat:
		var b strings.Builder
		for i := range int(n.Count) {
			b.WriteString(c.Str(at + 1 + i))
		}
		return b.String()
	case tape.NodeWord:
		return c.valid(at, s)
	}
	if n.Flags&tape.FlagFenced != 0 {
		return c.valid(at, fenceText(s))
	}
	bad := 0
	if n.Flags&tape.FlagEscape != 0 {
		end := jsonstr.Whole
		if n.Flags&tape.FlagOpen != 0 {
			end = jsonstr.Cut
			if c.Partial {
				end = jsonstr.Grows
			}
		}
		s, bad = c.unescape(s, end)
		if n.Flags&tape.FlagDouble != 0 {
			s, bad = c.unescape(s, end)
		}
	}
	if bad > 0 {
		c.Repair(tape.RepEscape, at, c.Raw(n), s)
	}
	return c.valid(at, s)
}

// valid makes s valid UTF-8.
func (c *Coercer) valid(at int, s string) string {
	n := &c.Tape[at]
	if n.Flags&tape.FlagHigh == 0 || utf8.ValidString(s) {
		return s
	}
	if n.Flags&tape.FlagOpen != 0 { // perhaps only the last rune is cut off
		if s = WholeRunes(s); utf8.ValidString(s) {
			return s
		}
	}
	c.Repair(tape.RepUTF8, at, "", "")
	b := make([]byte, 0, len(s)+2*utf8.UTFMax)
	for _, r := range s { // each bad byte counts as one
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// WholeRunes cuts the beginning of a rune off the end of a text.
func WholeRunes(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if !utf8.RuneStart(s[len(s)-i]) {
			continue
		}
		if !utf8.FullRuneInString(s[len(s)-i:]) {
			return s[:len(s)-i]
		}
		break
	}
	return s
}

// fenceText is the content of a block between ticks: without the language name on the first
// line and the line end before the closing ticks.
func fenceText(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < lex.MaxLiteral && strings.Trim(s[:i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+#-_.:/ \r") == "" {
		s = s[i+1:]
	}
	return strings.TrimRight(s, " \t\r\n")
}

// Dedented returns the text v of the node at a place without the blanks that all of its lines begin with.
func (c *Coercer) Dedented(at int, v generable.Value) generable.Value {
	s, _ := v.AsStr()
	d := text.Dedent(s)
	if c.Visits += len(s); d == s {
		return v
	}
	c.Repair(tape.RepDedent, at, c.show(at), message.Quote(text.Cut(d, 2*message.MaxShown)))
	return generable.StrOf(d)
}

// unescape decodes the escapes of a string; what it makes lies in the arena.
func (r *Arena) unescape(s string, end jsonstr.End) (string, int) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, 0
	}
	b, bad := jsonstr.AppendUnescaped(r.Text(len(s)), s, i, end)
	return r.Keep(b), bad
}
