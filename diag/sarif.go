package diag

import (
	"io"
	"net/url"
	"slices"
	"strings"
)

// The SARIF 2.1.0 form: the part that code hosts and editors read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId,omitempty"`
		RuleIndex *int            `json:"ruleIndex,omitempty"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF writes l as a SARIF 2.1.0 log of one run of the tool "agentscript".
// Columns count code points. version is the tool's own and may be empty.
func SARIF(w io.Writer, l List, version string) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: make([]sarifResult, 0, len(l))}
	run.Tool.Driver = sarifDriver{Name: "agentscript", Version: version, Rules: rulesOf(l)}
	index := map[string]*int{}
	for i, rule := range run.Tool.Driver.Rules {
		index[rule.ID] = &i
	}
	for _, d := range l {
		r := sarifOf(d)
		r.RuleIndex = index[r.RuleID]
		run.Results = append(run.Results, r)
	}
	text, err := encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// rulesOf describes the codes that occur in l, in the order of the codes.
func rulesOf(l List) []sarifRule {
	used := map[Code]bool{}
	for _, d := range l {
		used[d.Code] = true
	}
	rules := []sarifRule{}
	for _, e := range Entries() {
		if used[e.Code] {
			rules = append(rules, sarifRule{string(e.Code), sarifText{Text: e.Title}, sarifText{Text: e.Explain}, sarifText{e.text("", "\n"), e.Markdown()}})
		}
	}
	return rules
}

func sarifOf(d *Diagnostic) sarifResult {
	text := []string{d.Message}
	if d.Label != "" {
		text[0] += ": " + d.Label
	}
	for _, h := range d.Help {
		text = append(text, "help: "+h)
	}
	r := sarifResult{RuleID: string(d.Code), Level: d.Severity.String()}
	if d.Span.File != "" {
		r.Locations = append(r.Locations, locate(d.Span, nil))
	}
	for i, n := range d.Notes {
		if n.Pos.File == "" {
			text = append(text, "note: "+n.Message)
			continue
		}
		if !slices.Contains(d.Notes[:i], n) { // the format requires unique items
			r.Related = append(r.Related, locate(Span{Pos: n.Pos}, &sarifText{Text: n.Message}))
		}
	}
	for _, f := range d.Fixes {
		if f.Span.File == "" || !f.Span.IsValid() {
			continue
		}
		at := region(f.Span)
		at.EndColumn = at.StartColumn + f.Span.Len // a fix of length 0 inserts
		r.Fixes = append(r.Fixes, sarifFix{sarifText{Text: f.Message}, []sarifChange{{
			artifact(f.Span.File), []sarifReplacement{{at, sarifText{Text: f.Replacement}}},
		}}})
	}
	r.Message = sarifText{Text: strings.Join(text, "\n")}
	return r
}

func locate(s Span, message *sarifText) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: artifact(s.File)}, Message: message}
	if s.IsValid() {
		at := region(s)
		l.Physical.Region = &at
	}
	return l
}

func region(s Span) sarifRegion {
	r := sarifRegion{StartLine: s.Line, StartColumn: s.Col}
	if s.Col > 0 {
		r.EndColumn = s.Col + max(1, s.Len)
	}
	return r
}

// artifact returns a file as a URI: a relative reference, or a file URI if the path is absolute, on any system.
func artifact(file string) sarifArtifact {
	u := url.URL{Path: strings.ReplaceAll(file, `\`, "/")}
	if len(u.Path) > 2 && u.Path[1:3] == ":/" { // C:/
		u.Path = "/" + u.Path
	}
	if strings.HasPrefix(u.Path, "/") {
		u.Scheme = "file"
	}
	return sarifArtifact{URI: u.String()}
}
