package dialect

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// note is one sentence about one place.
type note struct{ path, text string }

// notes are the sentences that end the description of one place.
type notes struct{ list []string }

func (n *notes) add(text string) {
	if n != nil && !slices.Contains(n.list, text) {
		n.list = append(n.list, text)
	}
}

// text joins the doc of a place with its notes.
func (n *notes) text(doc string) string {
	if n == nil || len(n.list) == 0 {
		return doc
	}
	said := strings.Join(n.list, "; ")
	switch {
	case doc == "":
		return said
	case strings.HasSuffix(doc, ".") || strings.HasSuffix(doc, "!") || strings.HasSuffix(doc, "?"):
		return doc + " (" + said + ")"
	}
	return doc + "; " + said
}

// rewrite records a difference. form tells the model how to write the place, if the schema alone would be surprising.
func (e *emitter) rewrite(kind string, at spot, before, after, form string) {
	if form != "" {
		at.notes.add(form)
	}
	if e.quiet || !e.first(kind, at, before) {
		return
	}
	e.rewrites = append(e.rewrites, Rewrite{kind, at.path.String(), before, after})
	if form != "" {
		e.forms = append(e.forms, note{at.path.String(), form})
	}
}

// first reports whether this difference has not been reported before.
func (e *emitter) first(kind string, at spot, what string) bool {
	key := origin{kind, at.owner, at.below, what}
	if e.told[key] {
		return false
	}
	e.told[key] = true
	return true
}

// limit records a sentence that the schema cannot express.
func (e *emitter) limit(at spot, text string) {
	if !e.quiet && e.first("", at, text) {
		e.limits = append(e.limits, note{at.path.String(), text})
	}
}

// say moves a constraint that the schema cannot express into the description.
func (e *emitter) say(kind string, at spot, what string) {
	at.notes.add(what)
	e.rewrite(kind, at, what, "description", "")
	e.limit(at, what)
}

// prompt returns what differs from the type's prompt fragment, and everything that the schema cannot express.
func (e *emitter) prompt() (form, all string) {
	form = section("In the JSON, these parts are written in another form:", e.forms)
	said := section("The answer has to keep these rules as well:", e.limits)
	return form, strings.Trim(form+"\n\n"+said, "\n")
}

func section(head string, list []note) string {
	if len(list) == 0 {
		return ""
	}
	var lines []string
	for _, n := range list {
		where := strings.TrimPrefix(n.path, ".")
		if where == "" {
			where = "the whole answer"
		}
		if line := "- " + where + ": " + n.text; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return head + "\n" + strings.Join(lines, "\n")
}

// maxRepeated is how many bytes of a default or an example a description repeats.
const maxRepeated = 400

func clipped(s string) string { return text.ClipBytes(s, maxRepeated) }

// maxListed is how many values a description lists.
const maxListed = 200

func examples(f *member) string {
	shown := text.Each(f.nat.Examples, func(x generable.Value) string { return clipped(generable.JSON(x, f.nat.Type)) })
	return "for example " + strings.Join(shown, " or ")
}

func article(what string) string {
	if strings.HasPrefix(what, "any ") {
		return what
	}
	return "a " + what
}

// plainName replaces every character that is not an ASCII letter, a digit or one of the extra characters with an
// underscore, and cuts the name to maxLen characters; 0 means no limit.
func plainName(s, extra string, maxLen int) string {
	s = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || strings.ContainsRune(extra, r) {
			return r
		}
		return '_'
	}, s)
	if maxLen > 0 && len(s) > maxLen {
		s = s[:maxLen]
	}
	return s
}

// listsText reports whether the target accepts texts as names and in enums.
func (r *ruleset) listsText(texts ...string) bool {
	return !r.plainNames || !slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsAny(s, "\"\n") })
}

// schemaName returns the name of t's schema in a request.
func schemaName(t *generable.Type, maxLen int) string {
	name := strings.Trim(plainName(t.String(), "-", 0), "_")
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	if name == "" {
		name = "answer"
	}
	if maxLen > 0 && len(name) > maxLen {
		name = name[:maxLen]
	}
	return name
}

// name returns the name of a shape under $defs.
func (e *emitter) name(s *shape) string {
	if name, ok := e.names[s]; ok {
		return name
	}
	base := plainName(s.nat.String(), ".-", 48)
	if s.tag != "" {
		base += "." + plainName(s.tag, ".-", 16)
	}
	e.names[s] = message.Unique(base, e.named)
	return e.names[s]
}
