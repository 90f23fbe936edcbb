package generable

import (
	"slices"
	"strings"
)

// optionWords are the words for the options that are chosen from a few, in the order of their
// constants.
func optionWords(option string) []string {
	switch option {
	case "level":
		return []string{"safe", "strict", "loose"}
	case "pick":
		return []string{"best", "first", "last", "error"}
	case "on_bad_item":
		return []string{"error", "drop", "keep"}
	case "extra_keys":
		return []string{"by_level", "drop", "error"}
	}
	return nil
}

// OptionWords lists the words that [Options.Set] knows for an option, the default first; nil
// for what is none of level, pick, on_bad_item and extra_keys.
func OptionWords(option string) []string { return optionWords(option) }

// Set sets one of the options level, pick, on_bad_item and extra_keys by a word, as command
// lines and scripts give it. The error lists the words and suggests the nearest.
func (o *Options) Set(option, word string) error {
	words := optionWords(option)
	i := slices.Index(words, word)
	if i < 0 {
		return newFieldError(keyPath(option), "one of "+strings.Join(words, ", "), quoteShort(word), didYouMean(word, words))
	}
	switch option {
	case "level":
		o.Level = Level(i)
	case "pick":
		o.Pick = Pick(i)
	case "on_bad_item":
		o.OnBadItem = BadItem(i)
	case "extra_keys":
		o.ExtraKeys = ExtraKeys(i)
	}
	return nil
}
