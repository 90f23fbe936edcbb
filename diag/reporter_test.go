package diag_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

func TestReporter(t *testing.T) {
	var r diag.Reporter
	var told []string
	r.OnReport = func(d *diag.Diagnostic) {
		if len(d.Help) > 0 {
			t.Errorf("%s was reported with its help", d.Message)
		}
		told = append(told, d.Message)
	}
	at := diag.Span{Pos: diag.Pos{File: "a.star", Line: 3, Col: 1}}
	e := r.Errorf(diag.CannotJoin, at, "%s wants %s", "b", "str").Helpf("put %s between", "pick")
	w := r.Warnf(diag.UnusedAgent, at, "unused").Notef(at.Pos, "%s is defined", "a")
	r.Detach()
	r.Report(&diag.Diagnostic{Message: "late"})

	if want := []string{"b wants str", "unused"}; !slices.Equal(told, want) {
		t.Errorf("OnReport was called with %q, want %q", told, want)
	}
	found := r.Diagnostics()
	if len(found) != 3 || found[0] != e || found[1] != w || found[2].Message != "late" {
		t.Fatalf("found %v", found)
	}
	if e.Severity != diag.Error || e.Code != diag.CannotJoin || e.Span != at || !slices.Equal(e.Help, []string{"put pick between"}) {
		t.Errorf("error is %+v", e)
	}
	if w.Severity != diag.Warning || !slices.Equal(w.Notes, []diag.Note{{Message: "a is defined", Pos: at.Pos}}) {
		t.Errorf("warning is %+v", w)
	}
	found[0] = nil
	if r.Diagnostics()[0] != e {
		t.Error("Diagnostics returned the list itself")
	}
}

func TestReporterFromSeveralGoroutines(t *testing.T) {
	var r diag.Reporter
	n := 0
	r.OnReport = func(*diag.Diagnostic) { n++ } // the race detector sees unordered calls
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { r.Errorf(diag.CannotJoin, diag.Span{}, "x") })
	}
	all.Wait()
	if n != 8 || len(r.Diagnostics()) != 8 {
		t.Errorf("%d calls, %d diagnostics, want 8", n, len(r.Diagnostics()))
	}
}
