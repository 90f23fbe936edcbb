package lenient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/gentest"
)

// repairRow is one text of testdata/corpus, read without a type.
type repairRow struct {
	Rule    string `json:"rule"` // the repair rule that it covers
	Name    string `json:"name"`
	Input   string `json:"input"`
	Want    string `json:"want"` // the value as JSON; empty without a value
	Repairs string `json:"repairs,omitempty"`
}

func readRepairRows(t *testing.T, file string) []repairRow {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []repairRow
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var row repairRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v in %s", file, err, lines.Bytes())
		}
		rows = append(rows, row)
	}
	return rows
}

// TestRepairCorpus reads the rows as a whole, byte by byte and in random pieces, and then reads their results again.
// The kinds of repairs are golden.
func TestRepairCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	seen := make(map[string]bool)
	for _, file := range files {
		rows := readRepairRows(t, file)
		for i := range rows {
			row := &rows[i]
			if row.Rule == "" || seen[row.Input] {
				t.Errorf("%s: no rule, or the same text as another row", row.Name)
			}
			seen[row.Input] = true
			t.Run(row.Rule+"/"+row.Name, func(t *testing.T) { checkRepairRow(t, row, rnd) })
		}
		if *gentest.Update {
			writeRepairRows(t, file, rows)
		}
	}
}

func checkRepairRow(t *testing.T, row *repairRow, rnd *rand.Rand) {
	r := Decode(nil, row.Input, generable.Options{})
	for _, most := range []int{1, 9} {
		m := NewMachine(nil, generable.Options{})
		for rest := row.Input; rest != ""; {
			n := min(1+rnd.IntN(most), len(rest))
			m.Feed(rest[:n])
			m.Snapshot()
			rest = rest[n:]
		}
		if got := m.Close(); render(got) != render(r) {
			t.Errorf("in pieces of up to %d:\n%s\nas a whole:\n%s", most, render(got), render(r))
		}
	}
	if limit := 4*len(row.Input) + 512; r.Visits > limit {
		t.Errorf("%d visits of %d bytes", r.Visits, len(row.Input))
	}
	if row.Want == "" {
		if r.OK || len(r.Errors) == 0 {
			t.Errorf("got %s, want an error", generable.JSON(r.Value, nil))
		}
		return
	}
	if !r.OK {
		t.Fatalf("want %s, got errors: %v", row.Want, r.Errors)
	}
	want := Decode(nil, row.Want, generable.Options{Level: generable.Strict})
	if !want.OK || len(want.Repairs) > 0 {
		t.Fatalf("the wanted value %s is no JSON: %v", row.Want, want.Errors)
	}
	text := generable.JSON(r.Value, nil)
	if !generable.Equal(r.Value, want.Value) {
		t.Errorf("got  %s\nwant %s", text, row.Want)
	}
	if again := Decode(nil, text, generable.Options{}); !again.OK || !generable.Equal(again.Value, r.Value) || len(again.Repairs) > 0 {
		t.Errorf("%s came back as %s with %v", text, generable.JSON(again.Value, nil), again.Repairs)
	}
	start, end := trimSpan(row.Input, 0, len(row.Input))
	valid := json.Valid([]byte(row.Input[start:end]))
	if got := kinds(r); valid && got != "" && got != tape.RepDuplicateKey.String() || !valid && got == "" {
		t.Errorf("valid JSON: %v, but repairs %q", valid, got)
	}
	cost := 0
	for _, k := range r.Repairs {
		cost += k.Cost
		if !slices.Contains(RepairKinds(), k.Kind) || k.Offset < 0 || k.Offset > len(row.Input) {
			t.Errorf("odd repair %+v", k)
		}
	}
	if cost != r.Cost {
		t.Errorf("the repairs cost %d, the result says %d: %v", cost, r.Cost, r.Repairs)
	}
	if got := kinds(r); *gentest.Update {
		row.Repairs = got
	} else if got != row.Repairs {
		t.Errorf("repairs %q, want %q", got, row.Repairs)
	}
}

func writeRepairRows(t *testing.T, file string, rows []repairRow) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, row := range rows {
		if err := enc.Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
