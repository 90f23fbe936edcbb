package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSectionIsReplaced(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Page\n\n"+heading+"\nold\n\n### more\n\n## Next\n\nrest\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := replace(page, "new\n"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if want := "# Page\n\n" + heading + "\nnew\n\n## Next\n\nrest\n"; string(got) != want {
			t.Errorf("the page is %q, want %q", got, want)
		}
	}
}

func TestCorporaAreFound(t *testing.T) {
	texts, err := corpora()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, text := range texts {
		count[text.Family]++
	}
	for _, module := range modules {
		if count[module] < 50 {
			t.Errorf("%d texts of %s", count[module], module)
		}
	}
}

func TestCounts(t *testing.T) {
	one, other, none := `{"a":1.0}`, `{"a":2}`, (*string)(nil)
	var s score
	for _, value := range []*string{&one, &other, none} {
		s.count(text{Want: []byte(`{"a":1}`)}, value)
	}
	if want := (score{right: 1, wrong: 1, refused: 1}); s != want {
		t.Errorf("%v, want %v", s, want)
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{"a\nb": "`a\\nb`", "a|b": "`a\\|b`", "`a`": "`` `a` ``", "": "`  `"} {
		if got := code(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
