package pythonisms

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// A spot is the actual place of a syntax error: a token, or the gap after one.
type spot struct {
	tok   int
	after bool // just after the token: the line must not end there
	at    diag.Span
}

// Messages, other than "got X, want Y", whose position is after their token.
var afterToken = [...]string{"not an identifier", "keyword argument must", "load operand must", "first operand of load", "original name of loaded", "does not associate",
	"obsolete form of octal", "invalid octal", "invalid binary", "invalid float", "stray backslash"}

// locate finds the token that the parser's error is about. The parser reports most errors at the position up to which
// it has read, which is after that token, and some at the token's start.
func (f *file) locate(e syntax.Error) spot {
	line, col := int(e.Pos.Line), int(e.Pos.Col)
	got, want := gotWant(e.Msg)
	read := got != "" && want != "primary expression" // reported at the position read so far
	for _, m := range afterToken {
		read = read || strings.Contains(e.Msg, m)
	}
	// i is the last token that starts at or before the position, or before it if the position is after a token.
	limit := col + 1
	if read {
		limit = col
	}
	i, _ := slices.BinarySearchFunc(f.toks, [2]int{line, limit}, func(t token, at [2]int) int {
		if t.line != at[0] {
			return t.line - at[0]
		}
		return t.col - at[1]
	})
	i = f.solid(i - 1)
	t := &f.toks[i]
	touches := t.endLine == line && t.endCol == col
	switch {
	case got == "indent" || got == "outdent":
		// The position is before the first token of the line.
		if n := i + 2; !(t.line == line) && n < len(f.toks) && f.toks[n].kind != kEOF {
			i = n
		}
		return f.on(i)
	case got == "newline" && !read:
		return f.gap(f.solid(i))
	case got == "newline" || got == "end of file" || read && !touches:
		// Whatever was read since then, the line ended after this token.
		return f.gap(i)
	case read, t.line == line && t.col <= col && (t.endLine > line || t.endCol > col):
		return f.on(i)
	}
	// The scanner stopped at something that is not a token here.
	return spot{tok: i, at: diag.Span{Pos: diag.Pos{File: f.name, Line: line, Col: col}}}
}

// solid returns token i, or the nearest token before it that is not a line end.
func (f *file) solid(i int) int {
	for i = max(0, i); i > 0 && (f.toks[i].kind == kEOF || f.toks[i].kind == kNewline); {
		i--
	}
	return i
}

func (f *file) on(i int) spot {
	return spot{tok: i, at: f.span(i, i+1)}
}

func (f *file) gap(i int) spot {
	t := &f.toks[i]
	return spot{tok: i, after: true, at: diag.Span{Pos: diag.Pos{File: f.name, Line: t.endLine, Col: t.endCol}}}
}

// gotWant splits "got X, want Y". It returns empty strings for any other message.
func gotWant(msg string) (got, want string) {
	rest, ok := strings.CutPrefix(msg, "got ")
	if !ok {
		return "", ""
	}
	// X itself may be ','.
	at := strings.LastIndex(rest, ", want ")
	if at < 0 {
		return "", ""
	}
	return strings.Trim(rest[:at], "'"), strings.TrimPrefix(rest[at:], ", want ")
}

// explain describes what the parser found in terms of the user's text.
func (f *file) explain(e syntax.Error, p spot) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: diag.SyntaxError, Message: e.Msg, Span: p.at, Cause: e}
	got, want := gotWant(e.Msg)
	t := &f.toks[p.tok]
	what := "`" + firstLine(t.text) + "`"
	switch {
	case p.after && got == "end of file":
		what = "end of the file"
	case p.after:
		what = "end of the line"
	case got == "indent":
		d.Message = "this line is indented more than the one before it"
		d.Help = append(d.Help, "begin it in the same column; only a line that ends with `:` opens a block")
		f.mixedIndents(d)
		return d
	case got == "outdent":
		what = "end of the block"
	case got == "string literal":
		what = "string"
	}
	switch {
	case got == "":
		f.explainOther(d, e.Msg, p.tok)
		if strings.HasPrefix(e.Msg, "unindent") {
			f.mixedIndents(d)
		}
		return d
	case want == "newline":
		d.Label = "the statement should have ended before this"
		f.misspelled(d, p.tok)
	case want == "indent":
		d.Label = "expected an indented block"
		d.Help = append(d.Help, "indent the lines that belong to the `:` above, or write `pass`")
		f.mixedIndents(d)
	default:
		d.Label = "expected " + wanted(want)
	}
	d.Message = "unexpected " + what
	f.missing(d, p, got, want)
	return d
}

// mixedIndents adds that the file is indented with tabs and with spaces, which may be the cause.
func (f *file) mixedIndents(d *diag.Diagnostic) {
	tabs, spaces := false, false
	for line := range strings.SplitSeq(f.src, "\n") {
		tabs = tabs || strings.HasPrefix(line, "\t")
		spaces = spaces || strings.HasPrefix(line, "  ")
	}
	if tabs && spaces {
		d.Help = append(d.Help, "some lines are indented by tabs and some by spaces, and a tab reaches to the next multiple of eight columns: use only spaces")
	}
}

// wanted returns a readable name for what the parser wants.
func wanted(want string) string {
	switch want {
	case "primary expression":
		return "an expression"
	case "outdent":
		return "the end of the block"
	case "end of file":
		return want
	}
	words := strings.Fields(strings.ReplaceAll(want, "'", ""))
	for i, w := range words {
		if w == "or" {
			continue
		}
		bare := strings.TrimSuffix(w, ",")
		if bare == "" {
			bare = w // a comma is wanted
		}
		words[i] = "`" + bare + "`" + w[len(bare):]
	}
	return strings.Join(words, " ")
}

// missing adds what is probably missing: a bracket, a colon, a second `=`.
func (f *file) missing(d *diag.Diagnostic, p spot, got, want string) {
	t := &f.toks[p.tok]
	first := &f.toks[f.stmts[t.stmt].first]
	condition := first.is("if") || first.is("elif") || first.is("while")
	if open := f.unclosed(p.tok); open >= 0 {
		b := &f.toks[open]
		d.Notes = append(d.Notes, diag.Note{
			Message: "`" + b.text + "` is never closed",
			Pos:     diag.Pos{File: f.name, Line: b.line, Col: b.col},
		})
	}
	switch {
	case got == "=" && condition:
		d.Help = append(d.Help, "`=` assigns; to compare write `==`")
	case want == "':'" && p.after && len(d.Notes) == 0:
		d.Help = append(d.Help, "put `:` at the end of the line")
	case strings.HasPrefix(want, "']', for") && got == "else":
		d.Help = append(d.Help, "put ( ) around a conditional expression here, or move it before `for`")
	case strings.HasPrefix(want, "']', for") && got == ",":
		d.Help = append(d.Help, "put ( ) around the tuple")
	case got == "lambda" && p.tok > 0 && binding(&f.toks[p.tok-1]) >= pShift:
		d.Help = append(d.Help, "make it a step: fn(lambda x: ..., input = T, output = U)")
	case got == "if" && want == "primary expression":
		d.Help = append(d.Help, "a value is chosen by `a if condition else b`, a node by `branch(node, {...})`")
	case got == ":" && t.open >= 0 && f.callOrDef(t.open) && p.tok > 0 && f.toks[p.tok-1].kind == kName:
		d.Help = append(d.Help, "an argument is passed with `=`: `"+f.toks[p.tok-1].text+" = ...`")
	case got == "lambda":
		d.Help = append(d.Help, "put the lambda into parentheses")
	case want == "primary expression" && (t.is("**") || t.is("*")) && !p.after:
		d.Help = append(d.Help, "a star spreads arguments only in a call")
	}
}

// unclosed returns the innermost bracket at or before token i that has no partner, in the token's statement or, if the
// token starts it, in the one before. It returns -1 if all have one.
func (f *file) unclosed(i int) int {
	first := f.stmts[f.toks[i].stmt].first
	if i == first && i > 1 {
		first = f.stmts[f.toks[i-2].stmt].first
	}
	for k := i; k >= first; k-- {
		if t := &f.toks[k]; t.opens() && t.match < 0 {
			return k
		}
	}
	return -1
}

// misspelled suggests a keyword for a statement whose first word resembles one.
func (f *file) misspelled(d *diag.Diagnostic, i int) {
	first := &f.toks[f.stmts[f.toks[i].stmt].first]
	if first.kind != kName || keywords[first.text] {
		return
	}
	starters := []string{"break", "continue", "def", "elif", "else", "for", "if", "load", "pass", "return", "while"}
	if s := diag.DidYouMean(first.text, starters); s != "" {
		d.Help = append(d.Help, s)
	}
}

// reworded maps parts of messages of the scanner and the parser to messages in terms of the user's text, and to what to
// do.
var reworded = [...]struct{ part, message, help string }{
	{"unexpected newline in string", "the string is not closed on its line", `close it with its quote; a string of several lines is written """…"""`},
	{"unexpected EOF in string", "the string is never closed", ""},
	{"unindent", "this line is not indented like any block around it", "begin it in the column of the statement that it follows"},
	{"load operand must be", "load takes names as strings", write(`load("file.star", "name", mine = "theirs")`)},
	{"original name of loaded", "load takes names as strings", ""},
	{"first operand of load", "load takes the file as a string literal", ""},
	{"load statement must import", "load lists no names", "list them: `load(\"file.star\", \"name\")`"},
	{"keyword argument must have form", "a keyword argument has the form name = value", "to compare write `==`"},
	{"conditional expression without else", "a conditional expression needs an `else`", "write `x if condition else y`"},
	{"unparenthesized tuple with trailing", "a tuple with a trailing comma needs parentheses", "drop the comma, or put ( ) around the tuple"},
	{"excessive nesting", "this is nested too deeply", "assign parts of it to names"},
	{"does not associate with", "", "put parentheses around one of the two"},
}

// strange are characters that are not allowed outside of strings, with what to do about them.
var strange = [...]struct{ characters, help string }{
	{"“”„‟«»", `strings are written with straight quotes: "…"`},
	{"‘’‚‛`´", `strings are written with straight quotes: "…" or '…'`},
	{"\u00a0\u2007\u202f\u200b\ufeff\u3000", "replace this invisible character by a space, or delete it"},
}

// explainOther rewords messages other than "got X, want Y".
func (f *file) explainOther(d *diag.Diagnostic, msg string, i int) {
	t := &f.toks[i]
	help := ""
	for _, r := range reworded {
		if strings.Contains(msg, r.part) {
			d.Message, help = cmp.Or(r.message, strings.TrimSuffix(msg, " (use parens)")), r.help
			break
		}
	}
	switch {
	case strings.HasPrefix(msg, "unexpected input character"):
		help = f.strangeCharacter(d)
	case strings.HasPrefix(msg, "unexpected '") && t.closes():
		d.Message = "`" + t.text + "` closes nothing"
	case strings.HasPrefix(msg, "load operand must be") && i > 0 && f.toks[i-1].kind == kName:
		d.Span = f.span(i-1, i)
		help = write(`"` + f.toks[i-1].text + `"`)
	case strings.HasPrefix(msg, "original name of loaded"):
		help = write(`"` + t.text + `"`)
	case msg == "not an identifier" && keywords[t.text]:
		d.Message = "`" + t.text + "` is a reserved word and cannot be a name"
	case msg == "not an identifier":
		d.Message = "`" + firstLine(t.text) + "` is not a name"
	case strings.HasPrefix(msg, "conditional expression"):
		a, okA := f.left(i, 0)
		if b, ok := f.right(i+1, 0); ok && okA {
			help = write(strings.TrimSpace(f.text(a, b)) + " else None")
		}
	}
	if help != "" {
		d.Help = append(d.Help, help)
	}
}

// strangeCharacter returns the message and the help of an error about a character.
func (f *file) strangeCharacter(d *diag.Diagnostic) string {
	line := text.Lines(f.src)[d.Span.Line-1]
	char := []rune(line)[d.Span.Col-1]
	if strings.HasPrefix(strings.TrimSpace(line), "```") {
		d.Message, d.Span.Len = "a Markdown code fence is not part of a script", len("```")
		return "remove the fence: the lines that begin with ```, and the text around them"
	}
	d.Message, d.Span.Len = "unexpected character "+strconv.QuoteRune(char), 1
	for _, s := range strange {
		if strings.ContainsRune(s.characters, char) {
			return s.help
		}
	}
	return ""
}

func firstLine(s string) string {
	line, _, more := strings.Cut(s, "\n")
	if short := text.Clip(line, 40); short != line || !more {
		return short
	}
	return line + "…"
}
