package text

import "strings"

// Synonyms reads a table of words with their meanings. Each line is "kind: word word = meaning". Blank lines and lines
// that begin with # are ignored. The result is indexed by kind and word.
func Synonyms(table string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for line := range strings.Lines(table) {
		words, meaning, _ := strings.Cut(strings.TrimSpace(line), " = ")
		kind, words, ok := strings.Cut(words, ": ")
		if !ok || strings.HasPrefix(kind, "#") {
			continue
		}
		if out[kind] == nil {
			out[kind] = map[string]string{}
		}
		for word := range strings.FieldsSeq(words) {
			out[kind][word] = meaning
		}
	}
	return out
}
