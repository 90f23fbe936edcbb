package input

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// CheckUTF8 rejects text that is not UTF-8 anywhere in v: decoding or writing it would replace characters.
func CheckUTF8(what, path string, v generable.Value) error {
	if text, ok := v.AsStr(); ok {
		return isText(what, path, text)
	}
	if l, ok := v.AsList(); ok {
		for i := range l.Len() {
			if err := CheckUTF8(what, fmt.Sprintf("%s[%d]", path, i), l.At(i)); err != nil {
				return err
			}
		}
	}
	if m, ok := v.AsMap(); ok {
		for i := range m.Len() {
			key, inner := m.At(i)
			at := path + "." + strings.ToValidUTF8(key, "\uFFFD")
			if err := isText(what, at, key); err != nil {
				return err
			}
			if err := CheckUTF8(what, at, inner); err != nil {
				return err
			}
		}
	}
	if r, ok := v.AsRecord(); ok {
		for i, f := range r.Type().Fields {
			if err := CheckUTF8(what, path+"."+f.Name, r.At(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func isText(what, path, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	valid := 0
	for {
		r, n := utf8.DecodeRuneInString(text[valid:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		valid += n
	}
	if path != "" {
		path = " at " + strings.TrimPrefix(path, ".")
	}
	return engine.Errorf(engine.KindInput, diag.BadInput, "%s is no UTF-8 text%s: byte %d is 0x%02x", what, path, valid, text[valid]).
		WithHelp("decode it from the encoding that it is in")
}
