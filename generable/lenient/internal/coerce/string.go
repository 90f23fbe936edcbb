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

// Raw returns the text of a node as written.
func (c *Coercer) Raw(n *tape.Node) string { return c.Docs[n.Doc][n.Start:n.End] }

// Str returns the string at a node.
func (c *Coercer) Str(at int) string {
	n := &c.Tape[at]
	s := c.Raw(n)
	if n.Kind == tape.NodeConcat {
		c.Visits += len(s)
		var b strings.Builder
		for i := range int(n.Count) {
			b.WriteString(c.Str(at + 1 + i))
		}
		return b.String()
	}
	// The flags of a list or an object do not say whether its bytes are valid.
	if n.IsVerbatim() && n.Kind != tape.NodeArr && n.Kind != tape.NodeObj {
		return s
	}
	t := c.last
	if t.node != *n || len(s) < OwnBytes {
		c.Visits += len(s)
		t = heldText{node: *n}
		t.text, t.bad = c.textOf(n, s)
		if t.valid = n.IsText() && n.Flags&tape.FlagHigh == 0 || utf8.ValidString(t.text); !t.valid {
			t.text, t.valid = c.valid(n, t.text)
		}
		c.last = t
	}
	if t.bad {
		c.Repair(tape.RepEscape, at, s, t.text)
	}
	if !t.valid {
		c.Repair(tape.RepUTF8, at, "", "")
	}
	return t.text
}

// heldText is the text of a node, whether it has bad escapes, and whether its bytes are valid. The last one is
// cached: a long text is decoded once, however often it is requested.
type heldText struct {
	node       tape.Node
	text       string
	bad, valid bool
}

// textOf decodes the text of a node as written, and reports whether some escape is bad.
func (c *Coercer) textOf(n *tape.Node, s string) (string, bool) {
	switch {
	case n.Kind != tape.NodeStr:
		return s, false
	case n.Flags&tape.FlagFenced != 0:
		return fenceText(s), false
	}
	bad := 0
	if n.Flags&tape.FlagEscape != 0 {
		end := jsonstr.Whole
		if n.Flags&tape.FlagOpen != 0 {
			end = jsonstr.Cut
		}
		s, bad = c.unescape(s, end)
		if n.Flags&tape.FlagDouble != 0 {
			s, bad = c.unescape(s, end)
		}
	}
	return s, bad > 0
}

// valid converts s, which is invalid, to valid UTF-8. It reports true if only its last rune is cut off.
func (c *Coercer) valid(n *tape.Node, s string) (string, bool) {
	if n.Flags&tape.FlagOpen != 0 {
		if s = WholeRunes(s); utf8.ValidString(s) {
			return s, true
		}
	}
	b := make([]byte, 0, len(s)+2*utf8.UTFMax)
	for _, r := range s { // each bad byte counts as one rune
		b = utf8.AppendRune(b, r)
	}
	return string(b), false
}

// WholeRunes removes an incomplete rune from the end of a text.
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

// fenceText returns the content of a block between ticks, without the language name on the first line and the line
// end before the closing ticks.
func fenceText(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < lex.MaxLiteral && strings.Trim(s[:i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+#-_.:/ \r") == "" {
		s = s[i+1:]
	}
	return strings.TrimRight(s, " \t\r\n")
}

// Dedented returns the text v of the node at index at without the indentation that all of its lines share.
func (c *Coercer) Dedented(at int, v generable.Value) generable.Value {
	s, _ := v.AsStr()
	d := text.Dedent(s)
	if c.Visits += len(s); d == s {
		return v
	}
	c.Repair(tape.RepDedent, at, c.show(at), message.Quote(text.Cut(d, 2*message.MaxShown)))
	return generable.StrOf(d)
}

// unescape decodes the escapes of a string into the arena.
func (r *Arena) unescape(s string, end jsonstr.End) (string, int) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, 0
	}
	b, _, bad := jsonstr.AppendUnescaped(r.Text(len(s)), s, i, end)
	return r.Keep(b), bad
}
