package main

import (
	"fmt"
	"strings"
)

// catalogue is the value of the documents, as a Go program would declare it.
type catalogue struct {
	Name  string `json:"name"`
	Items []item `json:"items"`
}

type item struct {
	ID       int64    `json:"id"`
	Title    string   `json:"title"`
	Severity string   `json:"severity"`
	Score    float64  `json:"score"`
	Done     bool     `json:"done"`
	Note     *string  `json:"note"`
	Tags     []string `json:"tags"`
	Span     span     `json:"span"`
}

type span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

const catalogueName = `Überblick "A"`

var severities = []string{"low", "medium", "high"}

// itemAt returns the i-th item of every catalogue: the truth that results are compared with.
func itemAt(i int) item {
	return item{
		ID:       1<<40 + int64(i),
		Title:    fmt.Sprintf(`Item %d says "quoted" things about naïve cafés, and more than that`, i),
		Severity: severities[i%3],
		Score:    float64(151+i%800) / 1000,
		Done:     i%2 == 0,
		Tags:     []string{"alpha", fmt.Sprintf("beta-%d", i), "γάμμα"},
		Span:     span{int64(i) * 10, int64(i)*10 + 7},
	}
}

// document is a text to decode, with the expected result.
type document struct {
	size    string // as tables name it: "1.8 KB"
	variant string
	text    string
	raw     []byte // the text, for decoders that read bytes
	file    string // a file with the text, for other processes
	whole   int    // the number of complete items in the text; at most one more begins
}

const (
	clean  = "clean"
	fenced = "fenced"
	broken = "broken"
)

var variants = []string{clean, fenced, broken}

// size is a length of documents, as a number of items.
type size struct {
	name  string
	items int
}

var sizes = []size{{"1.8 KB", 6}, {"8 KB", 26}, {"159 KB", 510}, {"15 MB", 47_500}}

// write writes a variant of the catalogue with as many items as s says.
func write(s size, variant string) *document {
	d := &document{size: s.name, variant: variant, whole: s.items}
	var b strings.Builder
	if variant == fenced {
		b.WriteString("Here is {this} as asked [1]:\n```json\n")
	}
	b.WriteString("{\n  \"name\": \"Überblick \\\"A\\\"\",\n  \"items\": [\n")
	ends := make([]int, s.items)
	for i := range s.items {
		if i > 0 {
			b.WriteString(",\n")
		}
		it := itemAt(i)
		if variant == broken {
			writeBroken(&b, it, i)
		} else {
			writeClean(&b, it)
		}
		ends[i] = b.Len()
	}
	b.WriteString("\n  ]\n}\n")
	d.text = b.String()
	switch variant {
	case fenced:
		d.text += "```\nHope it helps!"
	case broken:
		d.text = strings.ToValidUTF8(d.text[:len(d.text)*97/100], "")
		for d.whole > 0 && ends[d.whole-1] > len(d.text) {
			d.whole--
		}
	}
	d.raw = []byte(d.text)
	return d
}

func writeClean(b *strings.Builder, it item) {
	fmt.Fprintf(b, `    {
      "id": %d,
      "title": "%s",
      "severity": "%s",
      "score": %v,
      "done": %t,
      "note": null,
      "tags": ["%s", "%s", "%s"],
      "span": {"from": %d, "to": %d}
    }`, it.ID, escape(it.Title), it.Severity, it.Score, it.Done, it.Tags[0], it.Tags[1], it.Tags[2], it.Span.From, it.Span.To)
}

// writeBroken leaves the quotes off keys, adds superfluous commas and comments, and writes literals as in Python.
func writeBroken(b *strings.Builder, it item, i int) {
	done := "False"
	if it.Done {
		done = "True"
	}
	if i%10 == 5 {
		b.WriteString("    /* the next ten */\n")
	}
	fmt.Fprintf(b, `    {
      id: %d,
      "title": "%s",
      "severity": "%s",
      "score": %v,
      "done": %s,
      "note": None, // nothing
      tags: ["%s", "%s", "%s",],
      "span": {"from": %d, "to": %d,},
    }`, it.ID, escape(it.Title), it.Severity, it.Score, done, it.Tags[0], it.Tags[1], it.Tags[2], it.Span.From, it.Span.To)
}

func escape(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }
