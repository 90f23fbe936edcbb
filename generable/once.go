package generable

import "strings"

// Once leaves out fields that are missing because they are misspelt: the key that nobody knows says
// what it was meant for, and one mistake is enough. It is for those who are told of unknown keys.
func (l FieldErrors) Once() FieldErrors {
	meant := map[string]bool{}
	for _, e := range l {
		if near, ok := strings.CutPrefix(e.Hint, "did you mean "); ok && e.Got != "nothing" {
			meant[e.Path[:strings.LastIndexByte(e.Path, '.')+1]+strings.TrimSuffix(near, "?")] = true
		}
	}
	if len(meant) == 0 {
		return l
	}
	var kept FieldErrors
	for _, e := range l {
		if e.Got != "nothing" || !meant[e.Path] {
			kept = append(kept, e)
		}
	}
	return kept
}
