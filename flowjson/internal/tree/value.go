// Package tree reads JSON as people write it into a tree that keeps order, positions and what is given twice.
package tree

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// Kind is what a value of JSON is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[k]
}

// Value is a value with its place.
type Value struct {
	Kind    Kind
	Text    string // of a text what it says, else as it is written
	Span    diag.Span
	Items   []*Value
	Members []Member
	Broken  bool // it is reported, and says nothing

	Comments []string // that stand before it, beside it or, of an object or a list, at its end; without their signs

	In  *Value // what holds it
	Key string // under which name
	at  int    // or at which place
}

// Member is a member of an object, in the order of the file. One name may be there twice.
type Member struct {
	Key   string
	Span  diag.Span // of the key
	Value *Value
}

// Get is the member of a name, nil without: the last one, where it is given twice.
//
//go:noinline
func (v *Value) Get(key string) *Value {
	if v == nil {
		return nil
	}
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Key == key {
			return v.Members[i].Value
		}
	}
	return nil
}

// TextOf is the text of a member, "" where there is none.
func (v *Value) TextOf(key string) string {
	if m := v.Get(key); m != nil && m.Kind == String {
		return m.Text
	}
	return ""
}

// ItemsOf are the items of a member that is a list.
func (v *Value) ItemsOf(key string) []*Value {
	if m := v.Get(key); m != nil {
		return m.Items
	}
	return nil
}

// Pointer is the JSON pointer (RFC 6901) of the value, "" of the whole document.
func (v *Value) Pointer() string {
	var parts []string
	for ; v.In != nil; v = v.In {
		part := strconv.Itoa(v.at)
		if v.In.Kind == Object {
			part = strings.ReplaceAll(strings.ReplaceAll(v.Key, "~", "~0"), "/", "~1")
		}
		parts = append(parts, part)
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString("/" + parts[i])
	}
	return b.String()
}

// Shown is the value in a message.
func (v *Value) Shown() string {
	switch v.Kind {
	case String:
		return strconv.Quote(text.Clip(v.Text, mostShown))
	case Array, Object:
		return v.Kind.String()
	}
	return v.Text
}
