package text_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/internal/text"
)

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n           int
		noun        string
		count, said string
	}{
		{0, "call", "0 calls", "no calls"},
		{1, "call", "1 call", "one call"},
		{2, "call", "2 calls", "2 calls"},
		{1, "entry", "1 entry", "one entry"},
		{3, "entry", "3 entries", "3 entries"},
		{0, "entry", "0 entries", "no entries"},
		{2, "key", "2 keys", "2 keys"},
	} {
		if got := text.Count(tt.n, tt.noun); got != tt.count {
			t.Errorf("Count(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.count)
		}
		if got := text.CountInWords(tt.n, tt.noun); got != tt.said {
			t.Errorf("CountInWords(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.said)
		}
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s                         string
		n                         int
		clip, bytes, cut, shorter string
	}{
		{"", 3, "", "", "", ""},
		{"abc", 3, "abc", "abc", "abc", "abc"},
		{"abcdefg", 3, "abc…", "abc…", "abc", "ab … g"},
		{"äöü", 3, "äöü", "ä…", "ä", "äöü"},
		{"äöüß", 3, "äöü…", "ä…", "ä", "äö … ß"},
		{"日本語", 2, "日本…", "…", "", "日 … "},
		{"abcdefg", 0, "…", "…", "", " … "},
	} {
		for _, f := range []struct {
			name string
			got  string
			want string
		}{
			{"Clip", text.Clip(tt.s, tt.n), tt.clip},
			{"ClipBytes", text.ClipBytes(tt.s, tt.n), tt.bytes},
			{"Cut", text.Cut(tt.s, tt.n), tt.cut},
			{"ClipMiddle", text.ClipMiddle(tt.s, tt.n), tt.shorter},
		} {
			if f.got != f.want {
				t.Errorf("%s(%q, %d) = %q, want %q", f.name, tt.s, tt.n, f.got, f.want)
			}
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b           string
		without, swaps int
	}{
		{"", "", 0, 0},
		{"", "abc", 3, 3},
		{"abc", "", 3, 3},
		{"abc", "abc", 0, 0},
		{"abc", "acb", 2, 1},
		{"kitten", "sitting", 3, 3},
		{"ca", "abc", 3, 3}, // no character is edited twice
		{"recieve", "receive", 2, 1},
	} {
		if got := text.Distance([]byte(tt.a), []byte(tt.b), false); got != tt.without {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.without)
		}
		if got := text.Distance([]rune(tt.a), []rune(tt.b), true); got != tt.swaps {
			t.Errorf("Distance(%q, %q) with swaps = %d, want %d", tt.a, tt.b, got, tt.swaps)
		}
	}
	if a, b := text.Distance([]rune("ä"), []rune("ö"), false), text.Distance([]byte("ä"), []byte("日"), false); a != 1 || b != 3 {
		t.Errorf("distances of ä are %d in characters, %d in bytes", a, b)
	}
}

func TestTerminalAndVisible(t *testing.T) {
	for _, tt := range []struct{ s, terminal, visible string }{
		{"plain\ttext\nnext", "plain\ttext\nnext", `plain\u0009text\u000anext`},
		{"a\r\nb\rc", "a\nb\\u000dc", `a\u000d\u000ab\u000dc`},
		{"grüße 日本　語 🇩🇪 👩‍💻 می\u200cخواهم שלום é", "grüße 日本　語 🇩🇪 👩‍💻 می\u200cخواهم שלום é", `grüße 日本\u3000語 🇩🇪 👩\u200d💻 می\u200cخواهم שלום é`},
		{"\x1b[2K\x07\x7f\u009b", `\u001b[2K\u0007\u007f\u009b`, `\u001b[2K\u0007\u007f\u009b`},
		{"\u202e\u2066\u200b\u2028\ufeff\U000e0041", `\u202e\u2066\u200b\u2028\ufeff\U000e0041`, `\u202e\u2066\u200b\u2028\ufeff\U000e0041`},
		{"a\u00adb\u115fc\u2060d\u3164e\u034ff\U000e0100g", `a\u00adb\u115fc\u2060d\u3164e\u034ff\U000e0100g`, `a\u00adb\u115fc\u2060d\u3164e\u034ff\U000e0100g`},
		{"a\u200db\u200cc\ufe0f 1\ufe0f\u20e3 👁\ufe0f\u200d🗨\ufe0f\ufe0e\ufe0f ᠠ\u180b", `a\u200db\u200cc\ufe0f` + " 1\ufe0f\u20e3 👁\ufe0f\u200d🗨\ufe0f" + `\ufe0e\ufe0f` + " ᠠ\u180b",
			`a\u200db\u200cc\ufe0f 1\ufe0f` + "\u20e3 👁" + `\ufe0f\u200d` + "🗨" + `\ufe0f\ufe0e\ufe0f` + " ᠠ" + `\u180b`},
		{"\xff\xc3 \ufffd", "\\xff\\xc3 \ufffd", "\\xff\\xc3 \ufffd"},
	} {
		if got := text.Terminal(tt.s); got != tt.terminal {
			t.Errorf("Terminal(%q) = %q, want %q", tt.s, got, tt.terminal)
		}
		if got := text.Visible(tt.s); got != tt.visible {
			t.Errorf("Visible(%q) = %q, want %q", tt.s, got, tt.visible)
		}
	}
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"":                     `""`,
		"a\"b\\c":              `"a\"b\\c"`,
		"\n\r\t\b\x7f":         `"\n\r\t\u0008` + "\x7f" + `"`,
		"ä日\u2028\u2029\xff":   `"ä日\u2028\u2029` + "\ufffd" + `"`,
		strings.Repeat("x", 9): `"xxxxxxxxx"`,
	} {
		if got := text.Quote(s); got != want {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
	}
	if got := string(text.AppendQuoted([]byte("k="), "v")); got != `k="v"` {
		t.Errorf("AppendQuoted appended to %s", got)
	}
}

func FuzzAppendQuoted(f *testing.F) {
	for _, s := range []string{"", "a", `"\/`, "\x00\x1f\x7f", "é日𝄞", "\u2028\u2029\ufffd", "\xff\xc3", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := text.AppendQuoted(nil, s)
		if !utf8.Valid(quoted) || strings.ContainsAny(string(quoted), "\n\u2028\u2029") {
			t.Fatalf("%q", quoted)
		}
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil {
			t.Fatalf("%v: %q", err, quoted)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && back != want {
			t.Fatalf("%q became %q", s, back)
		}
	})
}

func TestSynonyms(t *testing.T) {
	got := text.Synonyms("# kind: word = meaning\n\nf: a b = the meaning = 1\ng: a = x\nno meaning\n")
	want := map[string]map[string]string{"f": {"a": "the meaning = 1", "b": "the meaning = 1"}, "g": {"a": "x"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"": "", "azAZ09": "azAZ09", "a-b_c.d/e:f=g@h%i+j,k~l": "a-b_c.d/e:f=g@h%i+j,k~l", "a b": "'a b'", "it's": `'it'\''s'`, "é": "'é'", "a;b": "'a;b'", "{z": "'{z'", "[Z": "'[Z'", "`": "'`'",
	} {
		if got := text.ShellWord(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for s, want := range map[string][]string{"": {""}, "a\n": {"a", ""}, "a\r\nb\rc\nd": {"a", "b", "c", "d"}, "\n\r": {"", "", ""}} {
		if got := text.Lines(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q", s, got)
		}
	}
}
