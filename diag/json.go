package diag

import (
	"bytes"
	"encoding/json"
	"io"
)

// The JSON form. Field order is the order of the output.
type (
	jsonDocument struct {
		Diagnostics []*Diagnostic `json:"diagnostics"`
		Errors      int           `json:"errors"`
		Warnings    int           `json:"warnings"`
	}
	jsonPos struct {
		File string `json:"file,omitempty"`
		Line int    `json:"line,omitempty"`
		Col  int    `json:"col,omitempty"`
	}
	jsonDiagnostic struct {
		Code     Code     `json:"code,omitempty"`
		Severity Severity `json:"severity"`
		Message  string   `json:"message"`
		jsonPos
		Len   int         `json:"len,omitempty"`
		Label string      `json:"label,omitempty"`
		Notes []jsonNote  `json:"notes,omitempty"`
		Help  []string    `json:"help,omitempty"`
		Fixes []jsonFix   `json:"fixes,omitempty"`
		Trace []jsonFrame `json:"trace,omitempty"`
	}
	jsonNote struct {
		Message string `json:"message"`
		jsonPos
	}
	jsonFix struct {
		Message string `json:"message,omitempty"`
		jsonPos
		Len         int    `json:"len"`
		Replacement string `json:"replacement"`
	}
	jsonFrame struct {
		Name string `json:"name"`
		jsonPos
	}
)

// JSON writes l as one line holding one document:
//
//	{"diagnostics":[{"code":…,"severity":…,"message":…,"file":…,"line":…,"col":…,"len":…,
//	  "label":…,"notes":[…],"help":[…],"fixes":[…],"trace":[…]}],"errors":n,"warnings":n}
//
// Keys keep this order; what is empty is left out, except of the counts.
func JSON(w io.Writer, l List) error {
	doc := jsonDocument{Diagnostics: make([]*Diagnostic, 0, len(l))}
	doc.Diagnostics = append(doc.Diagnostics, l...)
	doc.Errors, doc.Warnings, _ = l.count()
	text, err := encode(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// MarshalJSON gives the form that JSON writes for each diagnostic.
func (d *Diagnostic) MarshalJSON() ([]byte, error) {
	out := jsonDiagnostic{
		Code: d.Code, Severity: d.Severity, Message: d.Message,
		jsonPos: jsonPos(d.Span.Pos), Label: d.Label, Help: d.Help,
	}
	if d.Span.IsValid() {
		out.Len = max(1, d.Span.Len)
	}
	for _, n := range d.Notes {
		out.Notes = append(out.Notes, jsonNote{n.Message, jsonPos(n.Pos)})
	}
	for _, f := range d.Fixes {
		out.Fixes = append(out.Fixes, jsonFix{f.Message, jsonPos(f.Span.Pos), f.Span.Len, f.Replacement})
	}
	for _, f := range d.Trace {
		out.Trace = append(out.Trace, jsonFrame{f.Name, jsonPos(f.Pos)})
	}
	return encode(out)
}

// encode leaves < > & as they are: operators are frequent in our messages.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
