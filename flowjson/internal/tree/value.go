// Package tree parses JSON as people write it into a tree that keeps order, positions and duplicates.
package tree

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// Kind is the kind of a JSON value.
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

// Value is a value with its position.
type Value struct {
	Kind    Kind
	Text    string // for a text its content, otherwise as written
	Span    diag.Span
	Items   []*Value
	Members []Member
	Broken  bool // it was reported, and has no meaning

	Comments []string // the comments before it, next to it or, for an object or a list, at its end; without comment characters

	In  *Value // its container
	Key string // its name there
	at  int    // or its index there
}

// Member is a member of an object, in the order of the file. A name may occur twice.
type Member struct {
	Key   string
	Span  diag.Span // span of the key
	Value *Value
}

// Get returns the member with a name, or nil: the last one if there are several.
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

// TextOf returns the text of a member, or "" if there is none.
func (v *Value) TextOf(key string) string {
	if m := v.Get(key); m != nil && m.Kind == String {
		return m.Text
	}
	return ""
}

// ItemsOf returns the items of a member that is a list.
func (v *Value) ItemsOf(key string) []*Value {
	if m := v.Get(key); m != nil {
		return m.Items
	}
	return nil
}

// Pointer returns the JSON pointer (RFC 6901) of the value, "" for the whole document.
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

// Shown returns the value for a message.
func (v *Value) Shown() string {
	switch v.Kind {
	case String:
		return strconv.Quote(text.Clip(v.Text, mostShown))
	case Array, Object:
		return v.Kind.String()
	}
	return v.Text
}
