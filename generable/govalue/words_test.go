package govalue

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// Tags say how the text of a field is read.
func TestTagsOfReading(t *testing.T) {
	typ, err := TypeFor[struct {
		Place string `json:"place" alias:"key-place,spot" alias_only:"true" stream:"atomic,state"`
		Code  string `json:"code" dedent:"true" dedents:"no"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	place, code := typ.Fields[0], typ.Fields[1]
	if place.Key() != "key-place" || !slices.Equal(place.Alias, []string{"key-place", "spot"}) || place.Stream != generable.StreamAtomic|generable.StreamState || place.Dedent || !code.Dedent || code.AliasOnly {
		t.Errorf("%+v\n%+v", place, code)
	}
	_, err = TypeFor[struct {
		A string `alias_only:"true"`
		B string `stream:"atomc"`
		C string `dedent:"yes"`
		D int    `dedent:"true"`
	}]()
	for _, want := range []string{"A: want an alias, which rules the name out", `B: want one of atomic, first, state, done, not_null, with_state in the tag stream, got "atomc"; did you mean atomic?`,
		`C: want true or false in the tag dedent, got "yes"`, "D: want a type of text to dedent, got int"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
