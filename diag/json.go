package diag

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSON writes l as one line holding one document:
//
//	{"diagnostics":[{"code":…,"severity":…,"message":…,"file":…,"line":…,"col":…,"len":…,
//	  "label":…,"notes":[…],"help":[…],"fixes":[…],"trace":[…]}],"errors":n,"warnings":n}
//
// Keys keep this order; empty values are left out, except for the counts.
func JSON(w io.Writer, l List) error {
	doc := struct {
		Diagnostics []*Diagnostic `json:"diagnostics"`
		Errors      int           `json:"errors"`
		Warnings    int           `json:"warnings"`
	}{Diagnostics: append([]*Diagnostic{}, l...)}
	doc.Errors, doc.Warnings, _ = l.count()
	text, err := encode(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// MarshalJSON returns the form in which JSON writes each diagnostic.
func (d *Diagnostic) MarshalJSON() ([]byte, error) {
	length := 0
	if d.Span.IsValid() {
		length = max(1, d.Span.Len)
	}
	return encode(struct {
		Code     Code     `json:"code,omitempty"`
		Severity Severity `json:"severity"`
		Message  string   `json:"message"`
		Pos
		Len   int      `json:"len,omitempty"`
		Label string   `json:"label,omitempty"`
		Notes []Note   `json:"notes,omitempty"`
		Help  []string `json:"help,omitempty"`
		Fixes []Fix    `json:"fixes,omitempty"`
		Trace []Frame  `json:"trace,omitempty"`
	}{d.Code, d.Severity, d.Message, d.Span.Pos, length, d.Label, d.Notes, d.Help, d.Fixes, d.Trace})
}

// encode keeps < > & unescaped: operators are frequent in our messages.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
