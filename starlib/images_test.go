package starlib_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

// TestImages checks that pictures in an input reach the model as pictures, and its text says where they were.
func TestImages(t *testing.T) {
	m, found := load(`
Page = schema(title = str, shots = list[Image], extra = field(Image | None, default = None))
look = agent(name = "look", input = Page, prompt = "Look.")
alone = agent(name = "alone", input = Image, prompt = "Look.")
plain = agent(name = "plain", prompt = "Say.")
logo = image("logo.png")

def main(s = str):
    page = Page(title = "Two", shots = [image("https://example.com/a.png"), logo])
    return [look(page), alone(image("logo.png")), plain("x"), look(Page(title = "None", shots = []))]
`, "logo.png", pixel)
	if found.HasErrors() {
		t.Fatal(render(m, found))
	}
	var got []string
	s := spec(t, m, value(t, `{"s":"x"}`))
	s.Model = "m/m"
	s.Handler = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		data, err := json.Marshal(e.Req.(*model.Request).Messages[0].Parts)
		if err != nil {
			t.Error(err)
		}
		got = append(got, e.Agent+" "+string(data))
		return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}, Finish: model.FinishStop}, Attempt: 1}
	})
	if _, err := run.Exec(sched.NewCoopSched(1), &s); err != nil {
		t.Fatal(err)
	}
	const data = `"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"`
	want := []string{
		`look [{"kind":"text","text":"{\"title\":\"Two\",\"shots\":[\"[image 1]\",\"[image 2]\"],\"extra\":null}"},{"kind":"image","image":{"url":"https://example.com/a.png"}},{"kind":"image","image":{"url":` + data + `,"mime":"image/png"}}]`,
		`alone [{"kind":"image","image":{"url":` + data + `,"mime":"image/png"}}]`,
		`plain [{"kind":"text","text":"x"}]`,
		`look [{"kind":"text","text":"{\"title\":\"None\",\"shots\":[],\"extra\":null}"}]`,
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

func TestImagesMisused(t *testing.T) {
	for script, want := range map[string]string{
		`x = image("notes.txt")`:  "notes.txt is not a picture that models read",
		`x = image("nosuch.png")`: "cannot read nosuch.png",
		`x = image("../x.png")`:   "AS601",
		`x = image(3)`:            "want str",
	} {
		m, found := load(script+"\nmain = fn(lambda s: s, input = str, output = str)", "notes.txt", "just words")
		if got := render(m, found); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", script, got, want)
		}
	}
}

// The speech of a model is the value of an agent whose output is Audio; another agent receives its transcript.
func TestAloud(t *testing.T) {
	wav := &model.Audio{URL: "data:audio/wav;base64,UklGRg==", MIME: "audio/wav"}
	aloud, words := model.Part{Kind: model.PartAudio, Audio: wav}, model.Part{Kind: model.PartText, Text: "Good day."}
	for _, row := range []struct {
		script string
		parts  []model.Part
		want   string
	}{
		{`main = agent(output = Audio, prompt = "Say it.")`, []model.Part{words, aloud}, `{"url":"data:audio/wav;base64,UklGRg==","mime":"audio/wav","transcript":"Good day."}`},
		{`main = agent(output = Audio, prompt = "Say it.")`, []model.Part{aloud}, `{"url":"data:audio/wav;base64,UklGRg==","mime":"audio/wav","transcript":""}`},
		{`main = agent(prompt = "Say it.")`, []model.Part{words, aloud}, `"Good day."`},
		{`main = agent(prompt = "Say it.")`, []model.Part{aloud}, `AS706: the answer to agent "main" is one sound and no text, and its output is str`},
	} {
		out, err := exec(t, sound(t, row.script), `"hello"`, func(r *run.Spec) {
			r.Handler = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				if req := e.Req.(*model.Request); strings.Contains(row.script, "Audio") && req.System != "Say it." {
					t.Errorf("%s is sent %q", row.script, req.System)
				}
				return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: row.parts}}
			})
		})
		got := generable.JSON(out, nil)
		if err != nil {
			e := engine.AsError(err)
			got = string(e.Code) + ": " + e.Message
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.script, got, row.want)
		}
	}
}

// A picture drawn by a model is the value of an agent whose output is Image, and an error that says so elsewhere.
func TestImagesDrawn(t *testing.T) {
	for script, want := range map[string]string{
		`main = agent(output = Image, prompt = "Draw.")`:       `{"url":"data:image/png;base64,QUJD","mime":"image/png"}`,
		`main = agent(output = list[Image], prompt = "Draw.")`: `[{"url":"data:image/png;base64,QUJD","mime":"image/png"},{"url":"https://example.org/b.png","mime":""}]`,
		`main = agent(prompt = "Draw.")`:                       `AS706: the answer to agent "main" is 2 pictures and no text, and its output is str`,
	} {
		out, err := exec(t, sound(t, script), `"a cat"`, func(r *run.Spec) {
			r.Handler = engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
				return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{
					{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,QUJD", MIME: "image/png"}},
					{Kind: model.PartImage, Image: &model.Image{URL: "https://example.org/b.png"}},
				}}}
			})
		})
		got := generable.JSON(out, nil)
		if err != nil {
			e := engine.AsError(err)
			got = string(e.Code) + ": " + e.Message
		}
		if got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}
