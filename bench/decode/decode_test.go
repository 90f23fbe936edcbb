package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestMain runs the program itself if a test started this process as a child.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The clean text must contain the truth, and be as long as its name says.
func TestCleanDocumentsAreTheTruth(t *testing.T) {
	for _, s := range sizes[:3] {
		d := write(s, clean)
		var c catalogue
		if err := json.Unmarshal(d.raw, &c); err != nil {
			t.Fatal(err)
		}
		if got := judge(&c, s.items, false); !got.perfect() {
			t.Errorf("%s: %s", s.name, got)
		}
		var length float64
		var unit string
		if _, err := fmt.Sscan(s.name, &length, &unit); err != nil || unit != "KB" {
			t.Fatal(s.name, err)
		}
		if got := float64(len(d.text)) / 1000; got < length*0.9 || got > length*1.1 {
			t.Errorf("%s is %.1f KB", s.name, got)
		}
	}
}

func TestBrokenDocuments(t *testing.T) {
	d := write(sizes[1], broken)
	if json.Valid(d.raw) {
		t.Error("it is valid JSON")
	}
	for _, has := range []string{"\n      id: ", "None, // ", ",],\n", ",},\n", "/* ", `"done": True`, `"done": False`} {
		if !strings.Contains(d.text, has) {
			t.Errorf("it has no %q", has)
		}
	}
	if d.whole >= sizes[1].items || d.whole < sizes[1].items*9/10 {
		t.Errorf("%d of %d items are whole", d.whole, sizes[1].items)
	}
	if ends := strings.Count(d.text, "\n    }"); ends != d.whole {
		t.Errorf("%d items end, %d are told to be whole", ends, d.whole)
	}
}

func TestJudge(t *testing.T) {
	var good any
	if err := json.Unmarshal(write(size{"", 3}, clean).raw, &good); err != nil {
		t.Fatal(err)
	}
	root := func() map[string]any { return good.(map[string]any) }
	items := func() []any { return root()["items"].([]any) }
	changed := func(key string, v any) []any {
		m := map[string]any{}
		for k, old := range items()[1].(map[string]any) {
			m[k] = old
		}
		m[key] = v
		return []any{items()[0], m, items()[2]}
	}
	of := func(items []any) any { return map[string]any{"name": catalogueName, "items": items} }
	for name, tt := range map[string]struct {
		result any
		cut    bool
		want   score
	}{
		"right":                 {good, false, score{3, 3, false}},
		"a float that is off":   {of(changed("score", 0.1520000010728836)), false, score{2, 3, false}},
		"a note that is a text": {of(changed("note", "None")), false, score{2, 3, false}},
		"a number as a text":    {of(changed("id", "1099511627777")), false, score{2, 3, false}},
		"a member more":         {of(changed("result", nil)), false, score{2, 3, false}},
		"an item lost":          {of(items()[:2]), false, score{2, 3, false}},
		"an item too many":      {of(append(items()[:3:3], 5.0)), false, score{3, 3, true}},
		"the one that was cut":  {of(append(items()[:3:3], map[string]any{})), true, score{3, 3, false}},
		"another name":          {map[string]any{"name": "x", "items": items()}, false, score{3, 3, true}},
		"a member of the root":  {map[string]any{"name": catalogueName, "items": items(), "": 1.0}, false, score{3, 3, true}},
		"a list alone":          {items(), false, score{0, 3, true}},
		"nothing":               {nil, false, score{0, 3, true}},
	} {
		if got := judge(tt.result, 3, tt.cut); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// Every engine must be able to read what it is measured on, so that no figure is that of an engine called incorrectly.
func TestEnginesReadCleanJSON(t *testing.T) {
	typ, err := catalogueType()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(engines(typ), streams(typ)...) {
		if e.decode == nil {
			continue
		}
		d := write(sizes[0], clean)
		if strings.HasPrefix(e.name, "kaptinlin") {
			// It takes a quote in a text for the end of the text.
			d.text = strings.ReplaceAll(d.text, `\"`, "'")
			if _, err := e.decode(d); err != nil {
				t.Errorf("%s: %v", e.name, err)
			}
			continue
		}
		v, err := e.decode(d)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
		} else if got := judge(v, d.whole, false); !got.perfect() {
			t.Errorf("%s: %s", e.name, got)
		}
	}
}

func TestOwnEnginesReadEverything(t *testing.T) {
	typ, err := catalogueType()
	if err != nil {
		t.Fatal(err)
	}
	for _, variant := range variants {
		for _, e := range engines(typ) {
			if !e.own {
				continue
			}
			d := write(sizes[1], variant)
			v, err := e.decode(d)
			if err != nil {
				t.Errorf("%s, %s: %v", e.name, variant, err)
			} else if got := judge(v, d.whole, variant == broken); !got.perfect() {
				t.Errorf("%s, %s: %s", e.name, variant, got)
			}
		}
	}
}

func TestFamilies(t *testing.T) {
	if len(families) != 25 {
		t.Errorf("%d families", len(families))
	}
	for _, f := range families {
		for _, n := range []int{1, 10_000, 20_000} {
			if got := len(f.make(n)); n > 1 && (got < n*99/100 || got > n*101/100) || got == 0 {
				t.Errorf("%s: %d bytes for %d", f.name, got, n)
			}
		}
	}
}

// TestRun makes a small complete run: all parts, and children that exit, fail, and are stopped.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts processes")
	}
	nodeDir := "../node"
	if _, err := os.Stat(nodeDir + "/node_modules"); err != nil {
		nodeDir = "" // a test installs nothing
	}
	var out, log bytes.Buffer
	err := run([]string{"-time", "1ms", "-rounds", "1", "-hostile", "2000", "-node", nodeDir, "-markdown", "-only", "^(1.8KB|8KB|brackets|hostile)$"}, &out, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	page := out.String()
	for _, want := range []string{
		`(?m)^\| decoding 1\.8 KB of clean JSON into typed values, in allocations \| 60 \| .*\d+.* \| .make bench-peers. \|$`,
		`(?m)^\| decoding all of these texts, each item right and nothing beside \| (\d+ of \d+) \| `,
		`(?m)^1\.8 KB \| agentscript, typed \| [\d.]+ .s \| [\d.]+ \| \d+ \| \d+ \| 6 of 6$`,
		`(?m)^1\.8 KB \| encoding/json, any \| .* \| 6 of 6$`,
		`(?m)^1\.8 KB \| kaptinlin/jsonrepair \+ encoding/json \| error: `,
		`(?m)^8 KB \| agentscript, events \| .* \| 26 of 26$`,
		`(?m)^\[ and nothing else \| [\d.]+ .s \| [\d.]+ times \| [\d.]+ \| `,
		`(?m)^agentscript, any, no depth limit \| .* \| a value$`,
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("no line %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", page, &log)
	}
}

func TestProbe(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts processes")
	}
	b := &bench{dir: t.TempDir()}
	var err error
	if b.self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	e, err := engineNamed(ownTyped)
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.save(write(sizes[0], clean))
	if err != nil {
		t.Fatal(err)
	}
	if o := b.probe(e, d, time.Minute); o.says(0) != "" || !o.Score.perfect() || o.CPU <= 0 {
		t.Errorf("a value: %+v", o)
	}
	if o := b.probe(e, d, time.Nanosecond); !o.Over {
		t.Errorf("no time: %+v", o)
	}
	if o := b.probe(&engine{name: "nobody"}, d, time.Minute); !strings.Contains(o.Died, "nobody") {
		t.Errorf("no engine: %+v", o)
	}
	long, err := b.save(write(sizes[2], clean))
	if err != nil {
		t.Fatal(err)
	}
	if o := b.weigh(e, long, time.Minute); o.says(0) != "" || o.Heap <= 0 {
		t.Errorf("weighed: %+v", o)
	}
	prose, err := b.save(&document{text: "nothing to see", whole: 1})
	if err != nil {
		t.Fatal(err)
	}
	if o := b.probe(e, prose, time.Minute); o.Err == "" {
		t.Errorf("prose: %+v", o)
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-time", "0"}, {"-rounds", "0"}, {"-only", "("}, {"-nothing"}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
