package table

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// OneOf accepts the given words.
func OneOf(words ...string) *Kind {
	k := &Kind{Word: "one of " + script.Joined(text.Each(words, strconv.Quote)), Stub: "Literal" + script.QuotedList(words)}
	k.Accept = func(v starlark.Value) (starlark.Value, bool) {
		s, ok := v.(starlark.String)
		return v, ok && slices.Contains(words, string(s))
	}
	k.Hint = func(v starlark.Value) string {
		if s, ok := v.(starlark.String); ok {
			return script.DidYouMean(string(s), words)
		}
		return ""
	}
	k.Guess = func(v starlark.Value) (starlark.Value, bool) {
		s, _ := v.(starlark.String)
		near, ok := diag.Suggest(string(s), words)
		return starlark.String(near), ok
	}
	return k
}

// AnyOf accepts what one of the given kinds accepts; the first that fits is used.
//
//go:noinline
func AnyOf(kinds ...*Kind) *Kind {
	k := &Kind{alts: kinds}
	k.Word = strings.Join(text.Each(kinds, func(k *Kind) string { return k.Word }), " or ")
	k.Stub = strings.Join(text.Each(kinds, func(k *Kind) string { return k.Stub }), " | ")
	k.Accept = func(v starlark.Value) (starlark.Value, bool) {
		for _, one := range kinds {
			if w, ok := one.Takes(v); ok {
				return w, true
			}
		}
		return v, false
	}
	k.Hint = func(v starlark.Value) string {
		for _, one := range kinds {
			if h := one.HintOf(v); h != "" {
				return h
			}
		}
		return ""
	}
	k.Guess = func(v starlark.Value) (starlark.Value, bool) {
		for _, one := range kinds {
			if one.Guess != nil {
				if w, ok := one.Guess(v); ok {
					return w, true
				}
			}
		}
		return nil, false
	}
	return k
}

// Subject is the kind of thing that a text names.
type Subject string

// The subjects of texts that builtins take.
const (
	AgentName     Subject = "agent"
	ToolName      Subject = "tool"
	ServerName    Subject = "server"
	SkillName     Subject = "skill"
	OperationName Subject = "operation" // sh.run, http.get
	ModelName     Subject = "model"
	TypeName      Subject = "type"
	FieldName     Subject = "field" // a field of the node's output
	FilePath      Subject = "file"  // relative to the script's file
	RecordPath    Subject = "record"
)

// Naming returns a kind whose texts name something: editors and prompts complete them.
//
//go:noinline
func Naming(k *Kind, subjects ...Subject) *Kind {
	named := *k
	named.names = subjects
	return &named
}

// Named lists the subjects of texts of the kind, or of its items.
func (k *Kind) Named() []Subject {
	named := slices.Clone(k.names)
	for i := range k.alts {
		named = append(named, k.alts[i].Named()...)
	}
	if k.item != nil {
		named = append(named, k.item.Named()...)
	}
	return named
}

// Worded returns a kind under another word, for example a shorter one for a union of kinds.
func Worded(word string, k *Kind) *Kind {
	worded := *k
	worded.Word = word
	return &worded
}

// Hinted returns a kind with more advice on what to write instead.
//
//go:noinline
func Hinted(k *Kind, hint func(starlark.Value) string) *Kind {
	hinted := *k
	hinted.Hint = func(v starlark.Value) string { return cmp.Or(hint(v), k.HintOf(v)) }
	return &hinted
}

// Saying returns a hint for everything that is not of a kind.
func Saying(hint string) func(starlark.Value) string {
	return func(starlark.Value) string { return hint }
}

// Vetted returns a kind that does not accept all its values.
//
//go:noinline
func Vetted(k *Kind, vet func(*Param, starlark.Value) []Fault) *Kind {
	vetted := *k
	vetted.vet = vet
	return &vetted
}

// Texts returns a kind of texts that does not accept all texts.
//
//go:noinline
func Texts(vet func(p *Param, s string) []Fault) *Kind {
	return Vetted(StrKind, func(p *Param, v starlark.Value) []Fault {
		s, _ := v.(starlark.String)
		return vet(p, string(s))
	})
}

// Ints returns a kind of whole numbers that does not accept all of them.
//
//go:noinline
func Ints(vet func(p *Param, n int64) []Fault) *Kind {
	return Vetted(IntKind, func(p *Param, v starlark.Value) []Fault {
		i, _ := v.(starlark.Int)
		n, _ := i.Int64()
		return vet(p, n)
	})
}

// ListOf accepts a list or tuple whose items are all of one kind; items keep their form.
//
//go:noinline
func ListOf(item *Kind) *Kind {
	return &Kind{Word: "list of " + item.Word, Stub: "list[" + item.Stub + "]", item: item,
		Accept: func(v starlark.Value) (starlark.Value, bool) {
			seq, ok := v.(starlark.Sequence)
			if _, isList := AcceptList(v); !ok || !isList {
				return v, false
			}
			out := make([]starlark.Value, 0, seq.Len())
			for one := range starlark.Elements(seq) {
				w, ok := item.Takes(one)
				if !ok {
					return v, false
				}
				out = append(out, w)
			}
			return starlark.NewList(out), true
		},
		Hint: func(v starlark.Value) string {
			if _, ok := item.Takes(v); ok {
				return "put it into a list: [...]"
			}
			return item.HintOf(v)
		},
		Guess: func(v starlark.Value) (starlark.Value, bool) {
			w, ok := item.Takes(v)
			return starlark.NewList([]starlark.Value{w}), ok
		}}
}

// DictOf accepts a dict whose keys are texts and whose values are all of one kind.
func DictOf(item *Kind) *Kind {
	return &Kind{Word: "dict of " + item.Word, Stub: "dict[str, " + item.Stub + "]", item: item, dict: true,
		Accept: func(v starlark.Value) (starlark.Value, bool) {
			d, ok := v.(*starlark.Dict)
			if !ok {
				return v, false
			}
			for key, value := range d.Entries() {
				_, text := key.(starlark.String)
				if _, ok := item.Takes(value); !text || !ok {
					return v, false
				}
			}
			return v, true
		}}
}
