package wire

import (
	"cmp"
	"encoding/json"

	"github.com/agentscript/agentscript/engine/model"
)

// cited is a citation while the answer arrives: the text that it supports is known at the end.
type cited struct {
	model.Citation
	start, end *int   // in characters of the text
	of         *block // the block with that text; nil: the whole answer
	whole      bool   // it supports all of that text
}

// citing is a citation in the words of all providers. It is an object, which may contain its source as a nested object,
// or only the address.
type citing struct {
	URL        loose `json:"url"`
	URI        loose `json:"uri"`
	Link       loose `json:"link"`
	Retrieved  loose `json:"retrievedUrl"`
	Title      loose `json:"title"`
	Document   loose `json:"document_title"`
	Filename   loose `json:"filename"`
	Name       loose `json:"name"`
	Quote      loose `json:"cited_text"`
	Snippet    loose `json:"snippet"`
	FileID     loose `json:"file_id"`
	ID         loose `json:"id"`
	Source     loose `json:"source"`
	Text       loose `json:"text"`
	Start      *int  `json:"start_index"`
	End        *int  `json:"end_index"`
	StartGiven *int  `json:"startIndex"`
	EndGiven   *int  `json:"endIndex"`
	Quoted     []struct {
		Text loose `json:"text"`
	} `json:"sourceContent"`

	Page      *citing `json:"url_citation"`
	File      *citing `json:"file_citation"`
	Web       *citing `json:"web"`
	Retrieval *citing `json:"retrievedContext"`
	Maps      *citing `json:"maps"`
	Place     *citing `json:"location"`
}

// citation returns the source that c describes, including a nested object.
func (c *citing) citation() model.Citation {
	out := model.Citation{
		URL:    string(cmp.Or(c.URL, c.URI, c.Link, c.Retrieved)),
		Title:  string(cmp.Or(c.Title, c.Document, c.Filename, c.Name)),
		Source: string(cmp.Or(c.FileID, c.Source, c.ID)),
		Quote:  string(cmp.Or(c.Quote, c.Snippet)),
	}
	for _, q := range c.Quoted {
		out.Quote += string(q.Text)
	}
	for _, inner := range []*citing{c.Page, c.File, c.Web, c.Retrieval, c.Maps, c.Place} {
		if inner == nil {
			continue
		}
		i := inner.citation()
		out.URL, out.Title, out.Source = cmp.Or(out.URL, i.URL), cmp.Or(out.Title, i.Title), cmp.Or(out.Source, i.Source)
		out.Quote = cmp.Or(out.Quote, i.Quote, string(inner.Text))
		c.Start, c.End = cmp.Or(c.Start, inner.Start), cmp.Or(c.End, inner.End)
	}
	return out
}

// cite stores a list of citations, or one, for a block's text. It skips what is not a citation.
func (a *answer) cite(raw json.RawMessage, of *block) {
	if empty(raw) {
		return
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		list = nil
		_ = json.Unmarshal(raw, &list) // it is a valid list
	}
	for _, one := range list {
		var c citing
		if address := text(one); address != "" {
			c.URL = loose(address)
		} else {
			_ = json.Unmarshal(one, &c) // another form contains no citation
		}
		said := cited{Citation: c.citation(), of: of}
		said.start, said.end = cmp.Or(c.Start, c.StartGiven), cmp.Or(c.End, c.EndGiven)
		a.citeAs(said)
	}
}

// citeBlock is cite for citations that support the block's whole text.
func (a *answer) citeBlock(raw json.RawMessage, of *block) {
	before := len(a.cited)
	a.cite(raw, of)
	for i := range a.cited[before:] {
		a.cited[before+i].whole = true
	}
}

func (a *answer) citeAs(c cited) {
	if c.Citation != (model.Citation{Text: c.Text}) {
		a.part()
		a.cited = append(a.cited, c)
	}
}

// citations returns the citations of the answer, each once. A bare address is left out if another citation says more
// about it: some providers list the same sources twice.
func (a *answer) citations() []model.Citation {
	for _, raw := range []json.RawMessage{a.searched.Results, a.searched.Web, a.searched.Citations} {
		a.cite(raw, nil)
	}
	a.searched = searched{}
	var out []model.Citation
	known, seen := map[string]bool{}, map[model.Citation]bool{}
	for i := range a.cited {
		c := &a.cited[i]
		c.Text = cmp.Or(c.Text, a.citedText(c))
		if c.Citation != (model.Citation{URL: c.URL}) {
			known[c.URL] = true
		}
	}
	for _, c := range a.cited {
		if seen[c.Citation] || known[c.URL] && c.Citation == (model.Citation{URL: c.URL}) {
			continue
		}
		seen[c.Citation] = true
		out = append(out, c.Citation)
	}
	return out
}

// citedText returns the words of the answer that a citation supports, "" if the provider does not say.
func (a *answer) citedText(c *cited) string {
	switch {
	case c.whole:
		return c.of.text.String()
	case c.end == nil:
		return ""
	}
	whole, start := a.text.String(), 0
	if c.of != nil {
		whole = c.of.text.String()
	}
	if c.start != nil {
		start = *c.start
	}
	chars := []rune(whole)
	if start < 0 || start >= *c.end || *c.end > len(chars) {
		return ""
	}
	return string(chars[start:*c.end])
}

// searched are lists that providers send next to their answers; some repeat them in each event of a stream.
type searched struct {
	Citations json.RawMessage `json:"citations"`
	Results   json.RawMessage `json:"search_results"`
	Web       json.RawMessage `json:"web_search"`
}

// search stores the last version of each list.
func (a *answer) search(s *searched) {
	for _, l := range []struct{ to, from *json.RawMessage }{
		{&a.searched.Citations, &s.Citations}, {&a.searched.Results, &s.Results}, {&a.searched.Web, &s.Web},
	} {
		if !empty(*l.from) {
			*l.to = *l.from
		}
	}
}

// references stores the sources that pieces of a text name by id.
func (a *answer) references(content json.RawMessage) {
	if len(content) == 0 || content[0] != '[' {
		return
	}
	var list []struct {
		IDs []loose `json:"reference_ids"`
	}
	_ = json.Unmarshal(content, &list) // pieces of another form name none
	for _, piece := range list {
		for _, id := range piece.IDs {
			a.citeAs(cited{Citation: model.Citation{Source: string(id)}})
		}
	}
}

// geminiSources are the members in which Google's answers name their sources.
type geminiSources struct {
	Grounding json.RawMessage `json:"groundingMetadata"`
	Cited     json.RawMessage `json:"citationMetadata"`
	Read      json.RawMessage `json:"urlContextMetadata"`
}

// geminiCites stores the sources that support words of the answer, and other listed sources.
func (a *answer) geminiCites(g *geminiSources) {
	var from struct {
		Chunks   []citing `json:"groundingChunks"`
		Supports []struct {
			Segment struct {
				Text loose `json:"text"`
			} `json:"segment"`
			Chunks []int `json:"groundingChunkIndices"`
		} `json:"groundingSupports"`
		Citations json.RawMessage `json:"citations"`
		Sources   json.RawMessage `json:"citationSources"` // of earlier versions
		Pages     json.RawMessage `json:"urlMetadata"`
	}
	for _, raw := range []json.RawMessage{g.Grounding, g.Cited, g.Read} {
		if !empty(raw) {
			_ = json.Unmarshal(raw, &from) // another form contains no sources
		}
	}
	used := map[int]bool{}
	for _, s := range from.Supports {
		for _, i := range s.Chunks {
			if i < 0 || i >= len(from.Chunks) {
				continue
			}
			used[i] = true
			c := from.Chunks[i].citation()
			c.Text = string(s.Segment.Text)
			a.citeAs(cited{Citation: c})
		}
	}
	for i := range from.Chunks {
		if !used[i] {
			a.citeAs(cited{Citation: from.Chunks[i].citation()})
		}
	}
	for _, raw := range []json.RawMessage{from.Citations, from.Sources, from.Pages} {
		a.cite(raw, nil)
	}
}
