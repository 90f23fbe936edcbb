package engine

import "testing"

func TestPathFrame(t *testing.T) {
	at := MainFrame().Child("then", "a/b#@[]%", 0).Child("par", "", 0).Index(3).Child("agent", "critic", 1).Child("llm", "", 0)
	for want := at; ; want = want.Parent() {
		got := PathFrame(want.Path())
		if got.Path() != want.Path() || string(got.Segment(nil)) != string(want.Segment(nil)) {
			t.Errorf("%s became %s", want.Path(), got.Path())
		}
		if got.Child("llm", "", 2).Path() != want.Child("llm", "", 2).Path() || got.Root().Path() != "main" {
			t.Errorf("what is below or above %s is elsewhere", want.Path())
		}
		if want.Parent() == nil {
			if got.Parent() != nil {
				t.Error("something is above a run")
			}
			break
		}
	}
	if PathFrame("") != nil {
		t.Error("no path is a position")
	}
}
