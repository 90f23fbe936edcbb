package generable

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Level sets how far the decoder goes to make a text fit a type. The syntax is repaired at all levels except Strict.
type Level uint8

const (
	// Safe, the default, does not change the meaning of a text: it reads numeric strings as numbers, folds the case
	// and punctuation of keys and enum values, unwraps, and fills in defaults. Only the tag decides the variant of a
	// declared union.
	Safe Level = iota
	// Strict finds a value in fences and prose, but repairs and coerces nothing; keys that are not fields are errors.
	// An integer is still accepted as a float.
	Strict
	// Loose guesses where a guess is better than nothing: it rounds, finds numbers and enum values in sentences,
	// drops bad items, replaces bad values with defaults and missing lists with empty ones, and picks a union's
	// variant by fit.
	Loose
)

// Pick selects which value to take when a text holds several that fit.
type Pick uint8

const (
	PickBest  Pick = iota // the one with the least repair cost; among equals one in a fence, then the last
	PickFirst             // the first that fits
	PickLast              // the last that fits
	PickError             // several that fit are an error
)

// BadItem sets how a list item or dict entry that does not fit is handled.
type BadItem uint8

const (
	ItemError BadItem = iota // an error; at level Loose, the item is dropped
	ItemDrop                 // the item is left out, and a repair is recorded
	ItemKeep                 // the item is kept unchanged, regardless of the type
)

// ExtraKeys sets how keys that are not fields of a schema are handled.
type ExtraKeys uint8

const (
	ExtraByLevel ExtraKeys = iota // an error at level Strict, else dropped
	ExtraDrop                     // left out, and a repair is recorded
	ExtraError                    // an error
)

// Options configure the decoder. The zero value is the default.
type Options struct {
	Level     Level
	Pick      Pick
	OnBadItem BadItem
	ExtraKeys ExtraKeys
	MaxDepth  int // nesting of lists and objects; 0 means 512
	MaxCost   int // maximum total cost of repairs; 0 means no limit
	// Partial accepts a text that was cut off: when its value is not complete, the Result holds what is known of it,
	// as a snapshot of a stream would. Members that have not arrived and scalars that may still change are absent,
	// and instances of schemas are dicts as long as a field is missing.
	Partial bool
}

// option is chosen from a few words, listed in the order of its constants.
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

// OptionWords lists the words that [Options.Set] accepts for an option, the default first. It returns nil for
// anything but level, pick, on_bad_item and extra_keys.
func OptionWords(option string) []string { return slices.Clone(wordOptions[option].words) }

// Set sets one of the options level, pick, on_bad_item and extra_keys by a word, for command lines and scripts. The
// error lists the words and suggests the nearest.
func (o *Options) Set(option, word string) error {
	known := wordOptions[option]
	i := slices.Index(known.words, word)
	if i < 0 {
		return newFieldError(message.KeyPath(option), "one of "+strings.Join(known.words, ", "), message.Quote(word), message.DidYouMean(word, known.words))
	}
	known.set(o, i)
	return nil
}

// Repair describes what the decoder changed to read a text as a value. Kinds are stable words. Cost grows with the
// risk that the change is not what the author meant.
type Repair struct {
	Kind   string
	Path   string // location in the value: ".plan.steps[2]"; empty for the root
	Offset int    // byte offset in the text
	Before string // the original text, shortened
	After  string // what it was read as, shortened; may be empty
	Cost   int
}
