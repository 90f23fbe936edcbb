package runfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

var at = time.Date(2026, 11, 28, 20, 0, 0, 0, time.UTC)

var head = runfile.Head{RunHead: engine.RunHead{ID: "r1", Bundle: "b", ABI: 1, Script: "a.star", Entry: "main", Seed: 1 << 63, Input: json.RawMessage(`"x"`), Begun: at},
	Files: &engine.Bundle{Entry: "a.star", Files: map[string][]byte{"a.star": []byte("main = 1\n")}}}

var end = engine.RunEnd{Status: engine.RunDone, Result: json.RawMessage(`"y"`), Text: "y <&>", At: at}

// lines reads a file to its end.
func lines(r *runfile.Reader) (all []runfile.Line, err error) {
	for {
		line, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, line)
	}
}

func step(t *testing.T, i int, out engine.Outcome) engine.Step {
	t.Helper()
	text, err := out.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return engine.Step{Seq: int64(i + 1), ID: fmt.Sprintf("main/tool:t#%d@0011", i), State: runfile.StateOf(out), Kind: engine.EffectTool, Name: "t", Class: engine.ClassOnce,
		Key: "tool:1", Request: json.RawMessage(`{"args":{"a":"<b>"}}`), Types: map[string]string{"output": "T"}, Outcome: text, Usage: out.Usage, Taken: 2, Begun: at, Ended: at.Add(time.Second)}
}

// written returns the file of a run with the given outcomes.
func written(t *testing.T, outs ...engine.Outcome) (text string, steps []engine.Step) {
	t.Helper()
	var b bytes.Buffer
	w := runfile.NewWriter(&b, nil)
	failed := []error{w.Begin(head)}
	for i, out := range outs {
		steps = append(steps, step(t, i, out))
		failed = append(failed, w.Step(steps[i]))
	}
	if err := errors.Join(append(failed, w.End(end))...); err != nil {
		t.Fatal(err)
	}
	return b.String(), steps
}

// Outcomes come back from a file unchanged, including records; records whose schemas are not known come back as maps.
func TestOutcomesComeBack(t *testing.T) {
	g := gentest.NewGenerator(1)
	var outs []engine.Outcome
	var types []*generable.Type
	for i := range gentest.Rounds() / 10 {
		typ := g.Typ(3)
		v := g.Value(typ, 3)
		out := engine.Outcome{Value: v, Usage: model.Usage{In: i}, Attempt: 1 + i%3}
		switch i % 4 {
		case 0:
			out.Err = engine.Errorf(engine.KindTool, "AS712", "no %d", i)
			out.Err.Partial, out.Value = v, generable.Value{}
		case 1:
			out.Value = generable.NewList([]generable.Value{v, model.ImageValue(model.Image{URL: "data:,x", MIME: "image/png"})}).Value()
		}
		outs, types = append(outs, out), append(types, typ)
	}
	text, steps := written(t, outs...)
	all, err := lines(runfile.NewReader(strings.NewReader(text), "x.run"))
	if err != nil || len(all) != len(outs)+2 {
		t.Fatal(len(all), err)
	}
	if first, last := all[0].Head, all[len(all)-1].End; !reflect.DeepEqual(*first, head) || !reflect.DeepEqual(*last, end) {
		t.Errorf("%+v %+v", first, last)
	}
	knows := engine.TypesOf(append(types, model.ImageType)...)
	for i, out := range outs {
		got := all[i+1].Step
		if !reflect.DeepEqual(*got, steps[i]) || all[i+1].N != i+2 {
			t.Fatalf("line %d: %+v, want %+v", all[i+1].N, got, steps[i])
		}
		back, err := engine.DecodeOutcome(got.Outcome, knows)
		if err != nil || !generable.Equal(back.Value, out.Value) || back.Attempt != out.Attempt || back.Usage != out.Usage || (back.Err == nil) != (out.Err == nil) {
			t.Fatalf("%s: %+v, %v", got.Outcome, back, err)
		}
		plain, err := engine.DecodeOutcome(got.Outcome, engine.TypesOf(model.ImageType).OrMaps())
		if err != nil || generable.JSON(plain.Value, nil) != generable.JSON(maps(out.Value), nil) {
			t.Fatalf("%s as plain data: %s, %v, want %s", got.Outcome, generable.JSON(plain.Value, nil), err, generable.JSON(maps(out.Value), nil))
		}
		if l, ok := plain.Value.AsList(); i%4 == 1 && (!ok || !isImage(l.At(1))) {
			t.Fatalf("%s: the picture is lost", got.Outcome)
		}
	}
}

// maps converts the records in a value to maps.
func maps(v generable.Value) generable.Value {
	if l, ok := v.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i := range items {
			items[i] = maps(l.At(i))
		}
		return generable.NewList(items).Value()
	}
	out := generable.NewMap(0)
	if r, ok := v.AsRecord(); ok {
		for i, f := range r.Type().Fields {
			out.Set(f.Name, maps(r.At(i)))
		}
		return out.Value()
	}
	m, ok := v.AsMap()
	if !ok {
		return v
	}
	for i := range m.Len() {
		k, item := m.At(i)
		out.Set(k, maps(item))
	}
	return out.Value()
}

func isImage(v generable.Value) bool {
	r, ok := v.AsRecord()
	return ok && r.Type() == model.ImageType
}

// However much of a file a killed process wrote, all complete lines are read, and the cut line is omitted.
func TestFileCutAnywhere(t *testing.T) {
	text, steps := written(t, engine.Outcome{Value: generable.StrOf("é\n"), Attempt: 1}, engine.Failed(engine.Errorf(engine.KindTool, "AS712", "no")))
	for n := range len(text) {
		r := runfile.NewReader(strings.NewReader(text[:n]), "x.run")
		all, err := lines(r)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		whole := strings.Count(text[:n], "\n")
		last := text[strings.LastIndex(text[:n], "\n")+1 : n]
		cut := 0
		if json.Valid([]byte(last)) { // complete but for its end
			whole++
		} else if last != "" {
			cut = whole + 1
		}
		if len(all) != whole || r.Cut() != cut {
			t.Fatalf("cut at %d: %d lines of %d, cut %d, want %d", n, len(all), whole, r.Cut(), cut)
		}
		for i := range all {
			if i > 0 && i <= len(steps) && !reflect.DeepEqual(*all[i].Step, steps[i-1]) {
				t.Fatalf("cut at %d: %+v", n, all[i].Step)
			}
		}
	}
}

func TestEarlierForm(t *testing.T) {
	data, err := os.ReadFile("testdata/v1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all, err := lines(runfile.NewReader(bytes.NewReader(data), "v1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, line := range all {
		if line.Head != nil {
			fmt.Fprintf(&got, "%d session %s\n", line.N, line.Head.Session)
			continue
		}
		s := line.Step
		out, err := engine.DecodeOutcome(s.Outcome, engine.TypesOf(model.ImageType))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%d %s %s %s %q %q %s %v %d/%d %d: %s %v", line.N, s.ID, s.State, s.Kind, s.Name, s.Agent, s.Key, s.Types, s.Usage.In, s.Usage.Out, out.Attempt, generable.JSON(out.Value, nil), out.Err)
		if out.Response != nil {
			got.WriteString(" " + out.Response.Text())
		}
		got.WriteString("\n")
	}
	gentest.Golden(t, "v1.txt", got.String())
	out, err := engine.DecodeOutcome(all[2].Step.Outcome, engine.TypesOf(model.ImageType))
	if l, ok := out.Value.AsList(); err != nil || !ok || !isImage(l.At(1)) {
		t.Errorf("the picture is lost: %s, %v", all[2].Step.Outcome, err)
	}
}

func TestDamagedFiles(t *testing.T) {
	text, _ := written(t, engine.Outcome{Attempt: 1})
	row := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":            {"x", "x.run:1: it is no line of a recorded run"},
		"an empty object":    {"{}\n", "x.run:1: it is neither"},
		"null":               {"\n\nnull\n", "x.run:3: it is neither"},
		"a list":             {"[1]", "x.run:1: it is no line"},
		"newer":              {`{"v":3,"run":"x"}` + "\n", "x.run:1: it is of version 3, and versions 1 and 2 are known"},
		"no head":            {row[1], "x.run:1: the run has no head"},
		"a damaged line":     {row[0] + "{\"id\":\n" + row[1], "x.run:2: it is no line"},
		"of another type":    {row[0] + `{"id":"a","state":7}` + "\n", "x.run:2: it is no step"},
		"a state not known":  {row[0] + `{"id":"a","state":"lost","kind":"tool"}`, `x.run:2: its step has the state "lost"`},
		"no kind":            {row[0] + `{"id":"a","state":"intent"}`, "x.run:2: its step has no kind"},
		"no outcome":         {row[0] + `{"id":"a","state":"done","kind":"tool"}`, "x.run:2: its step has ended"},
		"a usage below 0":    {row[0] + `{"id":"a","state":"intent","kind":"tool","usage":{"in":-1}}`, "x.run:2: its step has a usage below 0"},
		"before: no key":     {`{"v":1,"response":{}}`, "x.run:1: it lacks the key"},
		"before: two":        {`{"v":1,"key":"a","response":{},"error":{}}`, "x.run:1: it lacks the key"},
		"before: no session": {`{"v":1,"kind":"session","key":"a","value":1}`, "x.run:1: a session holds entries"},
		"before: no kind":    {`{"v":1,"key":"a","value":1}`, "x.run:1: model calls have a response"},
		"before: no answer":  {`{"v":1,"key":"a","kind":"fs","response":{}}`, "x.run:1: model calls have a response"},
		"before: below 0":    {`{"v":1,"key":"a","response":{},"attempt":-1}`, "x.run:1: its outcome cannot be read"},
	} {
		if _, err := lines(runfile.NewReader(strings.NewReader(c.text), "x.run")); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	// Additions of a newer version are skipped, and so are blank lines.
	later := strings.ReplaceAll(text, `{"id"`, `{"later":{"a":1},"id"`) + " \n"
	if all, err := lines(runfile.NewReader(strings.NewReader(strings.Replace(later, `"v":2`, `"v":2,"later":1`, 1)), "x.run")); err != nil || len(all) != 3 {
		t.Errorf("%d lines, %v", len(all), err)
	}
}

func TestNothingHiddenIsWritten(t *testing.T) {
	var b bytes.Buffer
	hide := func(text string) string { return strings.ReplaceAll(text, "canary", "[redacted]") }
	w := runfile.NewWriter(&b, hide)
	secret := step(t, 0, engine.Outcome{Value: generable.StrOf("canary"), Attempt: 1})
	secret.Request = json.RawMessage(`{"a":"canary"}`)
	h, e := head, end
	h.Input, e.Text = json.RawMessage(`"canary"`), "canary"
	one, err := runfile.EncodeStep(secret, hide)
	if err := errors.Join(err, w.Begin(h), w.Step(secret), w.End(e)); err != nil {
		t.Fatal(err)
	}
	if all := b.String() + string(one); strings.Contains(all, "canary") || strings.Count(all, "[redacted]") != 6 {
		t.Errorf("%s", all)
	}
}

// Whatever a file holds is read or refused, and what was read is the same after it was written and read again.
func FuzzReader(f *testing.F) {
	data, err := os.ReadFile("testdata/v1.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"v":2,"run":"a","seed":"7"}` + "\n" + `{"id":"main@0","state":"done","kind":"fs","key":"k","outcome":{"value":{"$map":{"$":1}},"attempt":1}}` + "\n" + `{"status":"done"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := lines(runfile.NewReader(bytes.NewReader(data), "x.run"))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.run:") {
				t.Fatalf("%v names no line", err)
			}
			return
		}
		var b bytes.Buffer
		w := runfile.NewWriter(&b, nil)
		begun := false
		for _, line := range all {
			switch {
			case line.Head != nil:
				err = w.Begin(*line.Head)
				begun = true
			case !begun: // of the previous format, which needs none
				err = w.Begin(runfile.Head{})
				begun = true
				fallthrough
			default:
				if line.Step != nil {
					err = errors.Join(err, w.Step(*line.Step))
				} else if line.End != nil {
					err = errors.Join(err, w.End(*line.End))
				}
			}
			if err != nil {
				t.Skip() // a time or a text that JSON cannot represent
			}
		}
		again, err := lines(runfile.NewReader(bytes.NewReader(b.Bytes()), "y.run"))
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		steps := func(all []runfile.Line) (ids []string) {
			for _, line := range all {
				if line.Step != nil {
					ids = append(ids, line.Step.ID+string(line.Step.State)+line.Step.Key)
				}
			}
			return ids
		}
		if a, b := steps(all), steps(again); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q became %q", a, b)
		}
	})
}
