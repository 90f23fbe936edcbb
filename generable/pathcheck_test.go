package generable_test

import (
	"testing"

	"github.com/agentscript/agentscript/internal/gentest"
)

func TestCheckPath(t *testing.T) {
	typ := gentest.TypeOf(t, `P; P = {title: str, steps: list[S], next: P | None, by: dict[str], x: any, "odd key": int, s: U}; S = {title: str, minutes: int}; U = kind(A, B); A = {r: float}; B = {s: str}`)
	for path, want := range map[string]string{
		"":                    "",
		".title":              "",
		".steps":              "",
		".steps[2].title":     "",
		".next.next.steps[0]": "",
		`.by["a b"]`:          "",
		".by.anything":        "",
		".x.whatever[3]":      "",
		`["odd key"]`:         "",
		".s.kind":             "",
		".s.r":                "",
		".nosuch":             `want one of the fields by, next, odd key, s, steps, title, x, got "nosuch"`,
		".step":               `want one of the fields by, next, odd key, s, steps, title, x, got "step"; did you mean steps?`,
		".steps[0].minute":    `steps[0]: want one of the fields minutes, title, got "minute"; did you mean minutes?`,
		".steps.title":        `steps: want a place in list[S], got ".title"`,
		".title[0]":           `title: want a place in str, got "[0]"`,
		"title":               `want a path such as .steps[2].title, got "title"`,
		".steps[-1]":          `want a path such as .steps[2].title, got ".steps[-1]"`,
		`["odd key`:           `want a path such as .steps[2].title, got "[\"odd key"`,
		".s.q":                `s: want one of the fields r, s, got "q"; did you mean r?`,
	} {
		got := ""
		if err := typ.CheckPath(path); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
