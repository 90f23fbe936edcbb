package cassette

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// A value comes back from a row unchanged: numbers of each kind, pictures, and values that look like pictures.
func TestRecordedValues(t *testing.T) {
	picture := model.ImageValue(model.Image{URL: "data:image/png;base64,AA==", MIME: "image/png"})
	values := []generable.Value{generable.StrOf("a\u2028\"\\\x00"), generable.IntOf(-7), generable.BoolOf(false), {}, picture,
		generable.NewList([]generable.Value{generable.StrOf("text"), picture, generable.NewList(nil).Value()}).Value()}
	for _, text := range []string{`1.0`, `1e300`, `{}`, `{"a":1.0,"b":[1,2.5,123456789012345678901234567890]}`, `{"$image":{"url":"u","mime":"m"}}`, `{"$$image":1}`, `{"$image":null}`, `{"$image":1,"b":2}`, `{"$":{"$image":{"$image":[]}}}`} {
		read := lenient.Decode(generable.AnyT, text, generable.Options{Level: generable.Strict})
		if !read.OK {
			t.Fatal(read.Errors)
		}
		values = append(values, read.Value)
	}
	for _, v := range values {
		var b strings.Builder
		world := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { return engine.Outcome{Value: v} })
		e := &engine.Effect{Kind: engine.EffectTool, Name: "look", Req: &engine.ToolRequest{}}
		Record(&b, nil, nil).Around(world).Do(t.Context(), e, nil)
		r, err := Replay(strings.NewReader(b.String()), "run.rec", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Do(t.Context(), e, nil)
		if got.Err != nil || !generable.Equal(got.Value, v) || generable.JSON(got.Value, nil) != generable.JSON(v, nil) {
			t.Errorf("%s is written as %s and read as %s, %v", generable.JSON(v, nil), b.String(), generable.JSON(got.Value, nil), got.Err)
		}
	}
}

// Damaged rows of other effects are refused when they are read.
func TestForgedEffectRows(t *testing.T) {
	good := `{"v":1,"kind":"fs","name":"read","key":"fs:1","n":1,"path":"main","request":{"op":"read","args":{"path":"a"}},"value":"text","usage":{},"attempt":1}`
	if _, err := Replay(strings.NewReader(good), "run.rec", nil); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"no kind":           {`"kind":"fs",`, ``},
		"no value":          {`"value":"text",`, ``},
		"an answer as well": {`"value"`, `"response":{},"value"`},
	} {
		if _, err := Replay(strings.NewReader(strings.Replace(good, change[0], change[1], 1)), "run.rec", nil); err == nil || !strings.Contains(err.Error(), "run.rec:1: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
