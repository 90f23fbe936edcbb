package message

import (
	"strconv"
	"strings"
)

func IsAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// TypeName formats a title, or the name of a property, like the name of a type: "line items" becomes LineItems. A
// single word is unchanged.
func TypeName(s string) string {
	if IsWord(s) {
		return s
	}
	var b strings.Builder
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r < 0x80 && !IsAlnum(byte(r)) }) {
		if c := w[0]; 'a' <= c && c <= 'z' {
			w = string(c-'a'+'A') + w[1:]
		}
		b.WriteString(w)
	}
	if b.Len() == 0 {
		return "Type"
	}
	return b.String()
}

// TypeNameAfter names the type of a part after its key.
func TypeNameAfter(key string) string {
	w := TypeName(key)
	if c := w[0]; 'a' <= c && c <= 'z' {
		w = string(c-'a'+'A') + w[1:]
	}
	return w
}

// Unique returns a free name, the given one or that with a number, and marks it as taken.
func Unique(name string, taken map[string]bool) string {
	out := name
	for i := 2; taken[out]; i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	taken[out] = true
	return out
}
