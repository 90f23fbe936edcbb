package starlib

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// nameKind takes names that a position in a run can hold: reviewer#1/lookup[2].
var nameKind = vetted(StrKind, func(p *Param, v starlark.Value) []fault {
	s, _ := v.(starlark.String)
	name := string(s)
	bad := strings.IndexFunc(name, func(r rune) bool { return strings.ContainsRune("/#[]", r) || unicode.IsControl(r) })
	switch {
	case bad < 0 && strings.TrimSpace(name) != "":
		return nil
	case bad >= 0:
		r, _ := utf8.DecodeRuneInString(name[bad:])
		return wrong("names are parts of positions, as in a/b#1[2]: use letters, digits, spaces, - and _", "a name cannot hold %q", r)
	case p.Default != "":
		return wrong("leave it out for the name of the variable, or give one", "the name is empty")
	}
	return wrong("", "the name is empty")
})
