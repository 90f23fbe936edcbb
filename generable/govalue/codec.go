package govalue

import (
	"cmp"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// Option configures how Go types and values are read; see [TypeOf], [From] and [Into].
type Option func(*codec)

// Variants declares the types that a value of the interface I can have: a union of structs, distinguished by their
// names under the key tag ("" means [generable.DefaultTag]).
//
//	Variants[Shape]("kind", Circle{}, Square{})
func Variants[I any](tag string, variants ...I) Option {
	if tag == "" {
		tag = generable.DefaultTag
	}
	return func(c *codec) {
		u := &union{tag: tag}
		for _, v := range variants {
			if t := reflect.TypeOf(v); t != nil {
				u.variants = append(u.variants, t)
			}
		}
		c.unions[reflect.TypeFor[I]()] = u
	}
}

// union is an interface whose implementations are known.
type union struct {
	tag      string
	variants []reflect.Type
}

// codec carries out one conversion between Go and values.
type codec struct {
	unions map[reflect.Type]*union
	depth  int

	durations bool // durations are texts

	types map[reflect.Type]*generable.Type // completed types, or references to types being made
	names map[string]bool
	errs  generable.FieldErrors
	err   error // the first error in a Go value
}

func newCodec(opts []Option) *codec {
	c := &codec{unions: make(map[reflect.Type]*union)}
	for _, o := range opts {
		o(c)
	}
	return c
}

// These are interfaces of encoding/json, which this package does not import.
type (
	jsonMarshaler   interface{ MarshalJSON() ([]byte, error) }
	jsonUnmarshaler interface{ UnmarshalJSON([]byte) error }
	textMarshaler   interface{ MarshalText() ([]byte, error) }
	textUnmarshaler interface{ UnmarshalText([]byte) error }
	// jsonNumber is a number as text, as json.Number is.
	jsonNumber interface {
		Int64() (int64, error)
		Float64() (float64, error)
		String() string
	}
)

var (
	timeType   = reflect.TypeFor[time.Time]()
	bigIntType = reflect.TypeFor[big.Int]()
	valueType  = reflect.TypeFor[generable.Value]()
)

// has reports whether t, or a pointer to it, implements I.
func has[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(i)
}

func isNumberText(t reflect.Type) bool {
	return t.Kind() == reflect.String && t.Implements(reflect.TypeFor[jsonNumber]())
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !has[textMarshaler](t.Elem()) && !has[jsonMarshaler](t.Elem())
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// nameOf returns the name for the type of a Go type. For a generic type it includes the arguments, without their
// packages.
func nameOf(t reflect.Type) string {
	name := t.Name()
	base, args, generic := strings.Cut(name, "[")
	if !generic {
		return name
	}
	for arg := range strings.FieldsFuncSeq(args, func(r rune) bool { return strings.ContainsRune("[],*", r) }) {
		arg = arg[strings.LastIndexByte(arg, '/')+1:]
		base += message.TypeNameAfter(arg[strings.LastIndexByte(arg, '.')+1:])
	}
	return message.TypeName(base)
}

// structure is the JSON view of a struct.
type structure struct {
	doc    string
	stream string // the stream tag
	fields []field
	index  map[string]int
}

type field struct {
	name      string
	index     []int
	typ       reflect.Type
	tag       reflect.StructTag
	omitEmpty bool // left out when empty or zero
	asText    bool // numbers and bools in quotes
	tagged    bool
}

// structOf lists the fields of a struct by the rules of encoding/json: of two fields with the same name the less
// deeply nested one counts; at the same depth, the one whose tag sets the name, else none.
func structOf(t reflect.Type) *structure {
	if s, ok := structures.Load(t); ok {
		return s.(*structure)
	}
	s, _ := structures.LoadOrStore(t, listFields(t))
	return s.(*structure)
}

// structures caches the fields of Go types, by [reflect.Type], as encoding/json does: they depend on nothing else,
// and a program has a bounded number of types.
var structures sync.Map

func listFields(t reflect.Type) *structure {
	s := &structure{index: make(map[string]int)}
	var hidden [][]int // embedded fields that have a name: their fields are not promoted
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Name == "_" && len(f.Index) == 1 {
			s.doc, s.stream = firstTag(f.Tag, "doc", "desc", "description"), f.Tag.Get("stream")
		}
		under := func(prefix []int) bool {
			return len(f.Index) > len(prefix) && slices.Equal(f.Index[:len(prefix)], prefix)
		}
		if slices.ContainsFunc(hidden, under) {
			continue
		}
		if f.Anonymous {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			switch {
			case tag == "-":
				hidden = append(hidden, f.Index)
				continue
			case name == "" && inner.Kind() == reflect.Struct && !has[jsonMarshaler](inner) && !has[textMarshaler](inner):
				continue
			}
			hidden = append(hidden, f.Index)
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		g := field{name: name, index: f.Index, typ: f.Type, tag: f.Tag, tagged: tagged && name != ""}
		if name == "" {
			g.name = f.Name
		}
		for o := range strings.SplitSeq(options, ",") {
			switch o {
			case "omitempty", "omitzero":
				g.omitEmpty = true
			case "string":
				g.asText = true
			}
		}
		all = append(all, g)
	}
	for i := range all {
		if dominant(all, i) {
			s.index[all[i].name] = len(s.fields)
			s.fields = append(s.fields, all[i])
		}
	}
	return s
}

func dominant(all []field, i int) bool {
	f := &all[i]
	for j := range all {
		o := &all[j]
		if j == i || o.name != f.name {
			continue
		}
		if len(o.index) < len(f.index) || len(o.index) == len(f.index) && (o.tagged || !f.tagged) {
			return false
		}
	}
	return true
}

// field finds the field for a key: by exact name, else ignoring case.
func (s *structure) field(key string) (int, bool) {
	if i, ok := s.index[key]; ok {
		return i, true
	}
	for i := range s.fields {
		if strings.EqualFold(s.fields[i].name, key) {
			return i, true
		}
	}
	return 0, false
}

func firstTag(tag reflect.StructTag, keys ...string) string {
	return cmp.Or(text.Each(keys, tag.Get)...)
}

// Durations makes time.Duration a text such as 90s or 1h30m instead of a number of nanoseconds, a form that hardly
// anyone writes, least of all models.
func Durations() Option { return func(c *codec) { c.durations = true } }

var durationType = reflect.TypeFor[time.Duration]()

// durationPattern matches what time.ParseDuration reads.
const durationPattern = `^[-+]?(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`

const durationGuide = `a time such as "90s" or "1h30m"`

func (c *codec) duration(t reflect.Type) bool { return c.durations && t == durationType }

func durationText() *generable.Type {
	out, _ := generable.Limited(generable.StrT, generable.Limits{Pattern: durationPattern})
	return out
}

// intoDuration reads a text as a duration.
func (c *codec) intoDuration(v generable.Value, dst reflect.Value, at *message.Path) {
	text, ok := v.AsStr()
	d, err := time.ParseDuration(text)
	if !ok || err != nil {
		got := v.TypeName()
		if ok {
			got = message.Quote(text)
		}
		c.bad(at, durationGuide, got, "")
		return
	}
	dst.SetInt(int64(d))
}
