package lenient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// corpusRow is a model's answer and its expected result. A row without a level applies to Safe; one with several
// applies to each. Types are written in the notation of [typeOf].
type corpusRow struct {
	Name    string          `json:"name"`
	Rule    string          `json:"rule"` // the rule that the row covers
	Type    string          `json:"type"`
	Level   string          `json:"level"`
	Item    string          `json:"on_bad_item"`
	MaxCost int             `json:"max_cost"`
	Partial bool            `json:"partial"`
	Input   string          `json:"input"`
	Want    json.RawMessage `json:"want"`    // the value; absent if it is an error
	Errors  []string        `json:"errors"`  // parts of the messages, in this order
	Rest    json.RawMessage `json:"rest"`    // the partial value with an error
	Repairs *string         `json:"repairs"` // kinds, in order
}

// readCorpus reads the rows of all files of a folder.
func readCorpus(t *testing.T, glob string) []corpusRow {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus at %s: %v", glob, err)
	}
	var rows []corpusRow
	seen := make(map[string]bool)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
			var row corpusRow
			d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
			d.DisallowUnknownFields()
			if err := d.Decode(&row); err != nil {
				t.Fatalf("%s: %v\n%s", file, err, sc.Text())
			}
			if row.Rule == "" || seen[row.Rule+"/"+row.Name] || (row.Want == nil) == (row.Errors == nil) {
				t.Fatalf("%s: row %q lacks a rule, a name of its own or what it wants", file, row.Name)
			}
			seen[row.Rule+"/"+row.Name] = true
			rows = append(rows, row)
		}
	}
	return rows
}

func (row corpusRow) levels() []generable.Level {
	levels := map[string]generable.Level{"": generable.Safe, "safe": generable.Safe, "strict": generable.Strict, "loose": generable.Loose}
	var out []generable.Level
	for _, name := range strings.Split(row.Level, ",") {
		out = append(out, levels[name])
	}
	return out
}

// TestTypedCorpus decodes the corpus whole, byte by byte and in pieces.
//
// The rows deliberately differ from schema-aligned parsing (BAML 0.226, compared with this decoder on 25 types × 99
// texts) in these points:
//   - 1,5 is not a number (there 15), nor are NaN and infinities (there 0, null or the largest
//     int), integers have any size (there they wrap), −7 is negative (there 7);
//   - "not true", "not low" and "None" for an enum with no are no match (there true, low, no);
//   - yes, no, 0 and 1 are truth values (there an error);
//   - a text in JSON quotes is the text (there the quotes stay), reasoning is not part of a text;
//   - of several values in the text the last counts (there the first), values in reasoning do not;
//   - several numbers are not a number (there the first of a list, or all digits joined: "[1,2]" is 12);
//   - 3.7 for int | str is the text, as nothing is lost (there 4);
//   - a wrapper around an object or scalar is removed (there an error), JSON in a string is read
//     (there an error);
//   - an object where the only field takes text is an error, not text without its quotes;
//   - a value that is not a list is an error where a list is wanted (there an empty list), and an object
//     or list for T | None as the whole answer is an error (there null);
//   - an enum's name matches in addition to its alias.
func TestTypedCorpus(t *testing.T) {
	items := map[string]generable.BadItem{"": generable.ItemError, "error": generable.ItemError, "drop": generable.ItemDrop, "keep": generable.ItemKeep}
	for _, row := range readCorpus(t, "testdata/typed/*.jsonl") {
		t.Run(row.Rule+"/"+row.Name, func(t *testing.T) {
			typ := typeOf(t, row.Type)
			for _, level := range row.levels() {
				o := generable.Options{Level: level, OnBadItem: items[row.Item], MaxCost: row.MaxCost, Partial: row.Partial}
				r := Decode(typ, row.Input, o)
				row.check(t, typ, r)
				for _, size := range []int{1, 3, 17} {
					m := NewMachine(typ, o)
					for i := 0; i < len(row.Input); i += size {
						m.Feed(row.Input[i:min(i+size, len(row.Input))])
					}
					if got := m.Close(); render(got) != render(r) {
						t.Errorf("in pieces of %d:\n%s\nat once:\n%s", size, render(got), render(r))
					}
				}
			}
		})
	}
}

func (row corpusRow) check(t *testing.T, typ *generable.Type, r Result) {
	t.Helper()
	compact := func(raw json.RawMessage) string {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if row.Errors != nil {
		if r.OK {
			t.Fatalf("got %s, want an error", generable.JSON(r.Value, typ))
		}
		text := r.Errors.Error()
		rest := text
		for _, part := range row.Errors {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("errors lack %q, or have it in another order:\n%s", part, text)
				break
			}
			rest = after
		}
		if got := generable.JSON(r.Partial, nil); row.Rest != nil && got != compact(row.Rest) {
			t.Errorf("the rest is %s, want %s", got, compact(row.Rest))
		}
		for _, e := range r.Errors {
			if e.Line == 0 || e.Expected == "" || e.Got == "" {
				t.Errorf("incomplete error: %+v", e)
			}
		}
		return
	}
	if !r.OK {
		t.Fatalf("error: %v", r.Errors)
	}
	if got, want := generable.JSON(r.Value, typ), compact(row.Want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if errs := typ.Conforms(r.Value); len(errs) > 0 && row.Item != "keep" && !row.Partial {
		t.Errorf("the value does not have its type: %v", errs)
	}
	if got := kinds(r); row.Repairs != nil && got != *row.Repairs {
		t.Errorf("repairs %q, want %q", got, *row.Repairs)
	}
	cost := 0
	for _, rep := range r.Repairs {
		cost += rep.Cost
	}
	if cost != r.Cost {
		t.Errorf("repairs cost %d, the result says %d", cost, r.Cost)
	}
}
