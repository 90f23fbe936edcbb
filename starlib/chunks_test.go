package starlib_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/starlib"
)

// assertEq is the assertion that the chunks use.
var assertEq = starlib.Builtin{Name: "assert_eq", Doc: "Fails unless two values are equal.", Returns: "None", Effect: starlib.Pure,
	Params: []starlib.Param{{Name: "got", Kind: starlib.AnyKind, Doc: "what is"}, {Name: "want", Kind: starlib.AnyKind, Doc: "what should be"}},
	Func: func(c *starlib.Call) (starlark.Value, error) {
		got, want := c.Arg("got"), c.Arg("want")
		same, err := starlark.Equal(got, want)
		if err != nil {
			return nil, err
		}
		if !same {
			return nil, fmt.Errorf("got %s, want %s", got, want)
		}
		return starlark.None, nil
	}}

var expectation = regexp.MustCompile(`### ("(?:[^"\\]|\\.)*")`)

// TestChunks loads the chunks of each file separately. A line that ends in ### "regexp" must have a diagnostic whose
// message or code matches; no other line may have one.
func TestChunks(t *testing.T) {
	files, err := filepath.Glob("testdata/chunks/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no chunks", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		for _, chunk := range strings.Split(string(data), "\n---\n") {
			first := line
			line += strings.Count(chunk, "\n") + 2
			t.Run(fmt.Sprintf("%s:%d", filepath.Base(file), first+1), func(t *testing.T) { testChunk(t, first, chunk) })
		}
	}
}

func testChunk(t *testing.T, first int, chunk string) {
	want := map[int]*regexp.Regexp{}
	for i, line := range strings.Split(chunk, "\n") {
		if m := expectation.FindStringSubmatch(line); m != nil {
			pattern, err := strconv.Unquote(m[1])
			if err != nil {
				t.Fatalf("line %d: %v", first+i+1, err)
			}
			want[i+1] = regexp.MustCompile(pattern)
		}
	}
	_, found := loadWith(starlib.Options{Builtins: []starlib.Builtin{assertEq}}, chunk)
	for _, d := range found {
		re := want[d.Span.Line]
		if re == nil || !re.MatchString(string(d.Code)+" "+d.Message+" "+d.Label) {
			t.Errorf("line %d: unexpected %s: %s (%s)", first+d.Span.Line, d.Code, d.Message, d.Label)
			continue
		}
		delete(want, d.Span.Line)
	}
	for line, re := range want {
		t.Errorf("line %d: no diagnostic matches %s", first+line, re)
	}
}
