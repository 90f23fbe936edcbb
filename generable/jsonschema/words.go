package jsonschema

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// The keywords for what JSON Schema cannot express about a type.
const (
	wordAlias       = "x-alias"           // of a property: other keys that models may use; of an enum: other words for its values
	wordAliasOnly   = "x-alias-only"      // of a property: models know it only by its first alias
	wordDedent      = "x-dedent"          // of a property: the indentation that all lines of its text share is removed
	wordStream      = "x-stream"          // of a property: how it appears while it arrives
	wordEnum        = "x-enum"            // of an enum: what its values mean, and other words for them
	wordConstraints = "x-constraints"     // additional conditions on a value
	wordDescription = "x-llm-description" // replaces the generated description of a type
)

// exportField writes what JSON Schema cannot express about a field.
func exportField(m *generable.Map, f *generable.Field) {
	if len(f.Alias) > 0 {
		m.Set(wordAlias, in.Texts(f.Alias))
	}
	if f.AliasOnly {
		m.Set(wordAliasOnly, generable.BoolOf(true))
	}
	if f.Dedent {
		m.Set(wordDedent, generable.BoolOf(true))
	}
	var policies []string
	for _, word := range generable.StreamWords()[:3] { // the rest are synonyms
		if p, _ := generable.StreamPolicyOf(word); f.Stream&p != 0 {
			policies = append(policies, word)
		}
	}
	if policies != nil {
		m.Set(wordStream, in.Texts(policies))
	}
}

// fieldWords reads what [exportField] writes.
func (im *importer) fieldWords(f *generable.Field, m *generable.Map, at string) {
	if v, has := m.Get(wordAlias); has && v.Kind() != generable.MapKind { // an object describes the values of an enum
		f.Alias = im.texts(v, pointer(at, wordAlias))
	}
	f.AliasOnly = im.truth(m, wordAliasOnly, at)
	f.Dedent = im.truth(m, wordDedent, at)
	v, has := m.Get(wordStream)
	if !has {
		return
	}
	for _, word := range im.texts(v, pointer(at, wordStream)) {
		p, known := generable.StreamPolicyOf(word)
		if !known {
			words := generable.StreamWords()
			im.misused(pointer(at, wordStream), message.OneOf(words), message.Quote(word), message.DidYouMean(word, words))
			continue
		}
		f.Stream |= p
	}
}

// exportNotes writes the notes on the values of an enum.
func exportNotes(m *generable.Map, t *generable.Type) {
	notes := generable.NewMap(0)
	for i, value := range t.Values {
		note := t.Note(i)
		n := generable.NewMap(2)
		set(n, "description", note.Doc)
		if len(note.Alias) > 0 {
			n.Set("alias", in.Texts(note.Alias))
		}
		if n.Len() > 0 {
			notes.Set(value, n.Value())
		}
	}
	if notes.Len() > 0 {
		m.Set(wordEnum, notes.Value())
	}
}

// notes reads the notes on the values of an enum: x-enum has the description of a value, or an object with a
// description and an alias; x-alias, if it is an object, has other words for a value.
func (im *importer) notes(m *generable.Map, values []string, docs map[string]string, at string) []generable.ValueNote {
	notes, some := make([]generable.ValueNote, len(values)), false
	for i, s := range values {
		notes[i].Doc = docs[s]
		some = some || docs[s] != ""
	}
	for _, word := range []string{wordEnum, wordAlias} {
		v, has := m.Get(word)
		said, isMap := v.AsMap()
		switch {
		case !has || !isMap && word == wordAlias:
			continue
		case !isMap:
			im.misused(pointer(at, word), "an object with the values of the enum as keys", v.TypeName(), "")
			continue
		}
		for value, v := range said.All() {
			i, place := slices.Index(values, value), pointer(pointer(at, word), value)
			if i < 0 {
				im.misused(place, "a value of the enum", message.Quote(value), message.DidYouMean(value, values))
				continue
			}
			some = true
			n, isMap := v.AsMap()
			s, isText := v.AsStr()
			switch {
			case word == wordAlias:
				notes[i].Alias = append(notes[i].Alias, im.texts(v, place)...)
			case isText:
				notes[i].Doc = s
			case !isMap:
				im.misused(place, "a text, or an object with a description and an alias", v.TypeName(), "")
			default:
				im.valueNote(&notes[i], n, place)
			}
		}
	}
	if !some {
		return nil
	}
	return notes
}

// valueNote reads the entry of x-enum for one value.
func (im *importer) valueNote(note *generable.ValueNote, m *generable.Map, at string) {
	for key, v := range m.All() {
		switch key {
		case "description":
			note.Doc = stringAt(m, key)
		case "alias":
			note.Alias = append(note.Alias, im.texts(v, pointer(at, key))...)
		default:
			im.misused(pointer(at, key), "description or alias", message.Quote(key), message.DidYouMean(key, []string{"description", "alias"}))
		}
	}
}

// constrained returns a type with the additional checks that a schema names.
func (im *importer) constrained(t *generable.Type, m *generable.Map, at string) *generable.Type {
	v, has := m.Get(wordConstraints)
	if !has || t.Kind == generable.ErrorType {
		return t
	}
	for _, says := range im.texts(v, pointer(at, wordConstraints)) {
		var check *generable.Check
		if im.o.Check != nil {
			check = im.o.Check(says)
		}
		if check == nil {
			im.note(pointer(at, wordConstraints), "a check that is known", message.Quote(says), "it is not checked")
			continue
		}
		of, l := in.Unlimited(t)
		if l == nil {
			l = &generable.Limits{}
		}
		if l.Check != nil {
			of, l = t, &generable.Limits{}
		}
		both := *l
		both.Check = check
		limited, errs := generable.Limited(of, both)
		for _, e := range errs {
			im.fail(pointer(at, wordConstraints), e.Expected, e.Got, e.Hint)
		}
		t = limited
	}
	return t
}

// misused records an invalid value of one of our keywords. Others may use the keyword with another meaning, so
// Lenient ignores it.
func (im *importer) misused(at, want, got, hint string) {
	if im.o.Lenient {
		im.note(at, want, got, hint)
		return
	}
	im.fail(at, want, got, hint)
}

// texts returns a text, or the texts of a list, as a slice.
func (im *importer) texts(v generable.Value, at string) []string {
	var out []string
	for i, item := range listed(v) {
		s, ok := item.AsStr()
		if !ok {
			if v.Kind() == generable.ListKind {
				at = place(at, i)
			}
			im.misused(at, "a text or a list of texts", item.TypeName(), "")
			return nil
		}
		out = append(out, s)
	}
	return out
}

// truth returns the value of a keyword that is true or false.
func (im *importer) truth(m *generable.Map, word, at string) bool {
	v, has := m.Get(word)
	is, ok := v.AsBool()
	if has && !ok {
		im.misused(pointer(at, word), "true or false", v.TypeName(), "")
	}
	return is
}
