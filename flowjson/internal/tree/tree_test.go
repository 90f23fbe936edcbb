package tree

import (
	"fmt"
	"strings"
	"testing"
)

// TestTree checks that common deviations from the standard are read as intended, with all positions.
func TestTree(t *testing.T) {
	tree, found := Parse("f.json", "\ufeff{'a/b': [0, {'c~d': word, \"\\u00e9\\ud83d\\ude00\": -1.5e3}], // x\n /* y\n */ \"n\" : null, # z\n}")
	if len(found) > 0 {
		t.Fatal(found)
	}
	var got []string
	var walk func(v *Value)
	walk = func(v *Value) {
		got = append(got, fmt.Sprintf("%s %s %s %d:%d+%d", v.Pointer(), v.Kind, v.Text, v.Span.Line, v.Span.Col, v.Span.Len))
		for _, m := range v.Members {
			walk(m.Value)
		}
		for _, item := range v.Items {
			walk(item)
		}
	}
	walk(tree)
	want := []string{
		" an object  1:1+1",
		"/a~1b a list  1:9+1",
		"/a~1b/0 a number 0 1:10+1",
		"/a~1b/1 an object  1:13+1",
		"/a~1b/1/c~0d a text word 1:21+4",
		"/a~1b/1/é😀 a number -1.5e3 1:49+6",
		"/n null null 3:11+4",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestComments checks that a comment belongs to the value after it, to the one that ends on its line or, at the end of
// an object or a list, to that.
func TestComments(t *testing.T) {
	tree, found := Parse("f.json", `// the file
{ # begins
  // of a
  "a": 1, // beside a
  "b": /* within */ [ // list
    2, # two
    // three
    3
    /* no
     * more */
  ],
  // the end
}
// after`)
	if len(found) > 0 {
		t.Fatal(found)
	}
	b := tree.Get("b")
	for _, row := range []struct {
		of   *Value
		want string
	}{
		{tree, "the file|begins|the end|after"}, {tree.Get("a"), "of a|beside a"}, {b, "within|list|no\nmore"}, {b.Items[0], "two"}, {b.Items[1], "three"},
	} {
		if got := strings.Join(row.of.Comments, "|"); got != row.want {
			t.Errorf("%s has the comments %q, want %q", row.of.Pointer(), got, row.want)
		}
	}
}
