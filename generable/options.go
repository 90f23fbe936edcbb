package generable

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Level sets how far the decoder goes to make a text fit a type. The syntax is repaired at
// all levels but Strict.
type Level uint8

const (
	// Safe, the default, changes nothing that was said: it reads numeric strings as numbers,
	// folds the case and punctuation of keys and enum values, unwraps, fills in defaults. A
	// declared union is decided by its tag alone.
	Safe Level = iota
	// Strict finds a value in fences and prose, but repairs and coerces nothing; keys that
	// are not fields are errors. An integer still serves as a float.
	Strict
	// Loose guesses where that is better than nothing: it rounds, finds numbers and enum
	// values in sentences, drops bad items, takes defaults for bad values and empty lists for
	// missing ones, and picks a union's variant by fit.
	Loose
)

// Pick selects which value to take when a text holds several that fit.
type Pick uint8

const (
	PickBest  Pick = iota // the one with the least repairs; of equals one in a fence, then the last
	PickFirst             // the first that fits
	PickLast              // the last that fits
	PickError             // several that fit are an error
)

// BadItem sets what becomes of a list item or dict entry that does not fit.
type BadItem uint8

const (
	ItemError BadItem = iota // an error; at level Loose, the item is dropped
	ItemDrop                 // the item is left out, with a repair on record
	ItemKeep                 // the item is kept as it is, whatever the type says
)

// ExtraKeys sets what becomes of keys that a schema does not have.
type ExtraKeys uint8

const (
	ExtraByLevel ExtraKeys = iota // an error at level Strict, else dropped
	ExtraDrop                     // left out, with a repair on record
	ExtraError                    // an error
)

// Options direct the decoder. The zero value is the default.
type Options struct {
	Level     Level
	Pick      Pick
	OnBadItem BadItem
	ExtraKeys ExtraKeys
	MaxDepth  int // nesting of lists and objects; 0 means 512
	MaxCost   int // what repairs may cost together; 0 means no limit
	// Partial reads a text that was cut: when its value is not complete, the Result holds
	// what is known of it, as a snapshot of a stream shows it: members that have not arrived
	// are absent, scalars that may still change as well, and instances of schemas are dicts
	// as long as a field is missing.
	Partial bool
}

// option is one that is chosen from a few words, in the order of its constants.
type option struct {
	words []string
	set   func(o *Options, i int)
}

var wordOptions = map[string]option{
	"level":       {[]string{"safe", "strict", "loose"}, func(o *Options, i int) { o.Level = Level(i) }},
	"pick":        {[]string{"best", "first", "last", "error"}, func(o *Options, i int) { o.Pick = Pick(i) }},
	"on_bad_item": {[]string{"error", "drop", "keep"}, func(o *Options, i int) { o.OnBadItem = BadItem(i) }},
	"extra_keys":  {[]string{"by_level", "drop", "error"}, func(o *Options, i int) { o.ExtraKeys = ExtraKeys(i) }},
}

// OptionWords lists the words that [Options.Set] knows for an option, the default first; nil
// for anything but level, pick, on_bad_item and extra_keys.
func OptionWords(option string) []string { return slices.Clone(wordOptions[option].words) }

// Set sets one of the options level, pick, on_bad_item and extra_keys by a word, as command
// lines and scripts do. The error lists the words and suggests the nearest.
func (o *Options) Set(option, word string) error {
	known := wordOptions[option]
	i := slices.Index(known.words, word)
	if i < 0 {
		return newFieldError(message.KeyPath(option), "one of "+strings.Join(known.words, ", "), message.Quote(word), message.DidYouMean(word, known.words))
	}
	known.set(o, i)
	return nil
}

// Repair says what the decoder changed to read a text as a value. Kinds are stable words.
// Cost grows with the risk that the change is not what the author meant.
type Repair struct {
	Kind   string
	Path   string // where in the value: ".plan.steps[2]"; empty for the root
	Offset int    // byte offset in the text
	Before string // what was there, shortened
	After  string // what it was read as, shortened; may be empty
	Cost   int
}
