package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// A call can be written in several equivalent ways: ./a, x/../a and a%2Fb name files, 1e2 is 100, and a list of
// addresses may be one text. A rule that denies or asks matches if any reading of the call fits it; a rule that allows
// matches only if every reading does. Rewriting a call can therefore make the ruling stricter, never weaker.

// matches reports whether the rule applies to a call. strict is for rules that allow.
func (r *rule) matches(t *Call, args generable.Value, strict bool) bool {
	switch {
	case r.class != "" && r.class != t.Class:
		return false
	case r.class == "" && !r.names(t, strict):
		return false
	}
	for i := range r.args {
		if !r.args[i].holds(args, strict) {
			return false
		}
	}
	return true
}

// names reports whether the rule names a tool. A server's tool has the name that the model uses and its name qualified
// by the server. Its unqualified name on the server differs only if names clash or contain characters that providers
// reject. A rule that forbids also matches that name, so it still holds when another server later has a tool with the
// same name.
func (r *rule) names(t *Call, strict bool) bool {
	return r.name.match(t.Name, !strict) || r.name.match(t.handled(), !strict) ||
		!strict && t.Server != "" && r.name.match(t.Remote, true)
}

func (c *condition) holds(args generable.Value, strict bool) bool {
	found := fieldsAt(nil, args, c.path, strict)
	if len(found) == 0 { // a != b is true of a missing argument, but only for rules that forbid
		return !strict && c.op == "!="
	}
	return readings(found, strict, func(v generable.Value) bool { return c.fits(v, strict) })
}

// readings reports whether any of several readings fits or, with strict, whether all do.
func readings[T any](list []T, strict bool, fits func(T) bool) bool {
	if strict {
		return !slices.ContainsFunc(list, func(x T) bool { return !fits(x) })
	}
	return slices.ContainsFunc(list, fits)
}

// fieldsAt adds the values at a path. A list is replaced by its items, and * matches any field.
func fieldsAt(to []generable.Value, v generable.Value, at []string, strict bool) []generable.Value {
	if l, ok := v.AsList(); ok {
		for i := range l.Len() {
			to = fieldsAt(to, l.At(i), at, strict)
		}
		return to
	}
	if len(at) == 0 {
		return append(to, v)
	}
	for key, field := range typing.Fields(v) {
		if key == at[0] || at[0] == "*" || !strict && strings.EqualFold(key, at[0]) {
			to = fieldsAt(to, field, at[1:], strict)
		}
	}
	return to
}

// fits applies the condition to one value.
func (c *condition) fits(v generable.Value, strict bool) bool {
	if c.op != "=" && c.op != "!=" {
		n, ok := v.AsNumber()
		if s, isText := v.AsStr(); isText {
			var err error
			n, err = strconv.ParseFloat(strings.TrimSpace(s), 64)
			ok = err == nil
		}
		if !ok || n != n { // what cannot be compared is forbidden rather than allowed
			return !strict
		}
		switch c.op {
		case "<":
			return n < c.than
		case "<=":
			return n <= c.than
		case ">":
			return n > c.than
		}
		return n >= c.than
	}
	return readings(textsOf(v, strict), strict, func(text string) bool {
		if c.op == "!=" { // no reading of the text may fit
			return !c.want.reads(text, !strict)
		}
		return c.want.reads(text, strict)
	})
}

// textsOf returns the canonical text of a value and, for rules that forbid, the texts of everything inside it.
func textsOf(v generable.Value, strict bool) []string {
	if s, ok := v.AsStr(); ok {
		return []string{s}
	}
	if f, ok := v.AsFloat(); ok {
		return []string{strconv.FormatFloat(f, 'f', -1, 64)}
	}
	texts := []string{generable.JSON(v, nil)}
	if strict {
		return texts
	}
	for _, field := range typing.Fields(v) {
		for _, item := range fieldsAt(nil, field, nil, strict) {
			texts = append(texts, textsOf(item, strict)...)
		}
	}
	return texts
}

// reads reports whether a text fits the glob in any reading, or with strict in every one.
func (g *glob) reads(text string, strict bool) bool {
	fit := func(s string) bool { return g.fitsPath(s, strict) }
	all := forms(text)
	if len(all) >= maxForms { // the text was made to have many readings
		return !strict
	}
	if strings.Contains(g.text, "@") {
		var each []string
		for _, form := range all {
			list := addresses(form)
			if strict && slices.ContainsFunc(list, ambiguous) {
				return false
			}
			if !strict || len(list) == 0 {
				each = append(each, form)
			}
			for _, address := range list {
				each = append(each, hops(address)...)
			}
		}
		all = each
	}
	return readings(all, strict, fit) || !strict && g.match(text, true)
}

// fitsPath compares the path that a text leads to if it may be a path, else the text.
func (g *glob) fitsPath(text string, strict bool) bool {
	if !strings.Contains(text, "/") && text != ".." {
		return g.match(text, !strict)
	}
	if !strict && g.mayBe(text) {
		return true
	}
	own := *g
	if strings.Contains(g.text, "/") {
		own = g.cleaned()
	}
	return own.match(path.Clean(text), !strict)
}

// cleaned returns the glob for cleaned paths. A star counts as a name: globs that climb are rejected when rules are
// read.
func (g *glob) cleaned() glob {
	const star = "\x00"
	return glob{pieces: strings.Split(path.Clean(strings.Join(g.pieces, star)), star), text: g.text}
}

// maxForms bounds the readings of one text. Ordinary texts have only a few; texts can be made to have many.
const maxForms = 32

// forms returns the ways in which a tool might read a text: trimmed, without invisible characters, decoded, with one
// kind of slashes, and cut at a NUL, in any combination. The first is the text itself.
func forms(text string) []string {
	all := []string{text}
	for i := 0; i < len(all) && len(all) < maxForms; i++ {
		for _, rewrite := range []func(string) string{strings.TrimSpace, visible, unescaped, slashed, cut} {
			if s := rewrite(all[i]); !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// visible returns a text without invisible characters.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// cut returns the part of a text that is read by programs that end texts with a NUL.
func cut(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

func slashed(s string) string { return strings.ReplaceAll(s, `\`, "/") }

// unescaped decodes percent-encoded bytes and keeps a percent sign that encodes nothing.
func unescaped(s string) string {
	at := strings.IndexByte(s, '%')
	if at < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:at]...)
	for i := at; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(c))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// match reports whether a text fits the glob. fold ignores the case of letters.
func (g *glob) match(text string, fold bool) bool {
	piece := func(i int) string {
		if fold {
			return strings.ToLower(g.pieces[i])
		}
		return g.pieces[i]
	}
	if fold {
		text = strings.ToLower(text)
	}
	last := len(g.pieces) - 1
	if last < 0 {
		return text == ""
	}
	if last == 0 {
		return text == piece(0)
	}
	var ok bool
	if text, ok = strings.CutPrefix(text, piece(0)); !ok {
		return false
	}
	if text, ok = strings.CutSuffix(text, piece(last)); !ok {
		return false
	}
	for i := 1; i < last; i++ { // the leftmost place leaves the most for the rest
		if _, text, ok = strings.Cut(text, piece(i)); !ok {
			return false
		}
	}
	return true
}
