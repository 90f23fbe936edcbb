package generable

// Level tells how far the decoder goes to make a text fit a type. The syntax is repaired at
// all levels but Strict.
type Level uint8

const (
	// Safe, the default, changes nothing that was said: it reads numeric strings as numbers,
	// folds the case and punctuation of keys and enum values, unwraps, fills in defaults. A
	// declared union is decided by its tag alone.
	Safe Level = iota
	// Strict finds a value in fences and prose, but repairs and coerces nothing; keys that
	// are no fields are errors. An integer still serves as a float.
	Strict
	// Loose guesses where that is better than nothing: it rounds, finds numbers and enum
	// values in sentences, drops bad items, takes defaults for bad values and empty lists for
	// missing ones, and picks a union's variant by fit.
	Loose
)

// Pick tells which value to take when a text holds several that fit.
type Pick uint8

const (
	PickBest  Pick = iota // the one with the least repairs; of equals one in a fence, then the last
	PickFirst             // the first that fits
	PickLast              // the last that fits
	PickError             // several that fit are an error
)

// BadItem tells what becomes of a list item or dict entry that does not fit.
type BadItem uint8

const (
	ItemError BadItem = iota // an error; at level Loose, the item is dropped
	ItemDrop                 // the item is left out, with a repair on record
	ItemKeep                 // the item is kept as it is, whatever the type says
)

// ExtraKeys tells what becomes of keys that are no fields of a schema.
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

// Result is what a text came to.
type Result struct {
	Value   Value       // meaningful when OK
	OK      bool        // the value fits the type
	Repairs []Repair    // all that was changed to get there, in order of discovery
	Errors  FieldErrors // why there is no value
	Partial Value       // without a value: what of it fits, as [Machine.Snapshot] shows it; else null
	Cost    int         // of all repairs
	Visits  int         // bytes looked at; stays within a small multiple of the text's length
}

// Decode reads a value of type t from a model's answer. The value may stand in fences, in
// prose or behind reasoning, and be broken in the ways models break JSON; what is valid JSON
// is read exactly. A nil t accepts any value.
//
// Decode never panics, and takes time and memory linear in the text.
func Decode(t *Type, text string, o Options) Result {
	s := scratches.Get().(*scratch)
	r := s.decode(t, text, o)
	s.clear()
	scratches.Put(s)
	return r
}
