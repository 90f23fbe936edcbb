package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
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

// text joins what a place means with what has to be said of it.
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

// rewriteKinds name the differences, with what each is for.
var rewriteKinds = map[string]string{
	"wrapped":               "the root becomes the value of an object",
	"dict-as-pairs":         "a dict becomes a list of keys and values",
	"json-text":             "a part becomes JSON text in a string",
	"recursion-as-text":     "a type that contains itself ends in JSON text",
	"union-as-lists":        "a union becomes an object with a list for each variant",
	"integer-as-text":       "a large integer becomes text",
	"tuple-as-object":       "a tuple becomes an object with a key for each place",
	"tuple-as-list":         "what stands where in a tuple moves to the description",
	"literals":              "the only values there are move to the description",
	"unique":                "that items differ moves to the description",
	"check":                 "a condition moves to the description",
	"enum-as-text":          "an enum too large to be listed becomes a string",
	"renamed":               "a key that the target does not take is written as another",
	"required-null":         "a field that may be left out is null instead",
	"absent-mark":           "the same, where null is a value of its own",
	"null-left-out":         "null is written by leaving the field out",
	"list-of-one":           "a field that may be left out becomes a list of at most one item",
	"text-or-blank":         "the same, as JSON text or an empty string",
	"cyclic-optional":       "a field that leads back is not required",
	"one-of":                "oneOf becomes anyOf",
	"const-as-enum":         "a constant becomes an enum of one value",
	"bounds":                "bounds of a number move to the description",
	"length":                "lengths move to the description",
	"pattern":               "a pattern moves to the description",
	"format":                "a format moves to the description",
	"default":               "a default moves to the description",
	"examples":              "examples move to the description",
	"description-in-prompt": "a description moves to the prompt",
	"ref-in-any-of":         "a reference with a description moves into an anyOf",
}

// RewriteKinds lists the kinds of rewrites, sorted.
func RewriteKinds() []string {
	kinds := make([]string, 0, len(rewriteKinds))
	for kind := range rewriteKinds {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// rewrite records a difference; form tells the model how to write the place, where the schema
// alone would surprise it.
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

// first reports whether nothing has been told of this difference yet.
func (e *emitter) first(kind string, at spot, what string) bool {
	key := origin{kind, at.owner, at.below, what}
	if e.told[key] {
		return false
	}
	e.told[key] = true
	return true
}

// limit records a sentence that the schema cannot say.
func (e *emitter) limit(at spot, text string) {
	if !e.quiet && e.first("", at, text) {
		e.limits = append(e.limits, note{at.path.String(), text})
	}
}

// say moves what the schema cannot say into the description.
func (e *emitter) say(kind string, at spot, what string) {
	at.notes.add(what)
	e.rewrite(kind, at, what, "description", "")
	e.limit(at, what)
}

// prompt is what differs from the type's prompt fragment, and all that the schema cannot say.
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

// maxRepeated is how much of a default or an example a description repeats, in bytes.
const maxRepeated = 400

func clipped(s string) string { return text.ClipBytes(s, maxRepeated) }

// maxListed is how many values of an enum a description lists.
const maxListed = 200

func valueList(values []string) string {
	shown := make([]string, 0, min(len(values), maxListed))
	for _, v := range values[:cap(shown)] {
		shown = append(shown, text.Quote(v))
	}
	list := strings.Join(shown, ", ")
	if n := len(values) - len(shown); n > 0 {
		list += " and " + strconv.Itoa(n) + " more"
	}
	return list
}

func examples(f *member) string {
	shown := make([]string, len(f.nat.Examples))
	for i, x := range f.nat.Examples {
		shown[i] = clipped(generable.JSON(x, f.nat.Type))
	}
	return "for example " + strings.Join(shown, " or ")
}

func article(what string) string {
	if strings.HasPrefix(what, "any ") {
		return what
	}
	return "a " + what
}

// keyStep is one step of a path, as errors write it.
func keyStep(name string) string {
	for i, c := range []byte(name) {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return "[" + text.Quote(name) + "]"
		}
	}
	if name == "" {
		return `[""]`
	}
	return "." + name
}
