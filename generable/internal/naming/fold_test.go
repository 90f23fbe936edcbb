package naming

import "testing"

func TestFoldTable(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"àáâãäåāăą", "aaaaaaaaa"}, {"æ", "ae"}, {"çćĉċč", "ccccc"}, {"ďđð", "ddd"}, {"èéêëēĕėęě", "eeeeeeeee"}, {"ĝğġģ", "gggg"}, {"ĥħ", "hh"},
		{"ìíîïĩīĭįı", "iiiiiiiii"}, {"ĵ", "j"}, {"ķ", "k"}, {"ĺļľŀł", "lllll"}, {"ñńņňŋ", "nnnnn"}, {"òóôõöøōŏő", "ooooooooo"}, {"œ", "oe"}, {"ŕŗř", "rrr"},
		{"śŝşšș", "sssss"}, {"ß", "ss"}, {"ţťŧț", "tttt"}, {"þ", "th"}, {"ùúûüũūŭůűų", "uuuuuuuuuu"}, {"ŵ", "w"}, {"ýÿŷ", "yyy"}, {"źżž", "zzz"},
		{"ẞ ÀÉ", "ssae"}, {"e\u0301", "e"}, {"ＨＩＧＨ５", "high5"}, {"×÷", ""}, {"Привет-мир", "приветмир"},
	} {
		if got := fold(row.in, Keys); got != row.want {
			t.Errorf("%s: %s, want %s", row.in, got, row.want)
		}
	}
	for _, row := range []struct{ in, want string }{{"C++", "c++"}, {"C#", "c#"}, {"1.5", "1.5"}, {"-1", "-1"}, {"A-", "a-"}, {"A+", "a+"}, {"**low**", "low"}, {"low-risk", "lowrisk"}, {"- low", "low"}, {"< 5", "<5"}, {">=5", ">=5"}, {"low.", "low"}, {"#1", "1"}} {
		if got := fold(row.in, Values); got != row.want {
			t.Errorf("%s: %s, want %s", row.in, got, row.want)
		}
	}
}

// A sign distinguishes a name if it is part of the value, not if it joins words or begins an item.
func TestHasSigns(t *testing.T) {
	for name, want := range map[string]bool{"-1": true, "A-": true, "A+": true, "C#": true, "< 5": true, "low-risk": false, "a - b": false, "- low": false, "low": false, "low.": false} {
		if got := HasSigns(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
