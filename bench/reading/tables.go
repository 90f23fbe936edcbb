package main

import (
	"fmt"
	"strconv"
	"strings"
)

// score counts the results of a reader for the texts of a family.
type score struct{ right, wrong, refused int }

func (s *score) count(t text, value *string) {
	switch {
	case value == nil:
		s.refused++
	case same(*value, string(t.Want)):
		s.right++
	default:
		s.wrong++
	}
}

func (s score) String() string { return fmt.Sprintf("%d / %d / %d", s.right, s.wrong, s.refused) }

// table counts by family. order lists the families in the order of the texts.
func table(texts []text, read []reading) (order []string, scores map[string]map[string]*score) {
	scores = map[string]map[string]*score{}
	for i, t := range texts {
		if scores[t.Family] == nil {
			order = append(order, t.Family)
			scores[t.Family] = map[string]*score{}
			for _, name := range names {
				scores[t.Family][name] = new(score)
			}
		}
		for _, name := range names {
			scores[t.Family][name].count(t, read[i][name])
		}
	}
	return order, scores
}

func rows(order []string, scores map[string]map[string]*score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)+1))
	for _, family := range order {
		b.WriteString("| " + family)
		for _, name := range names {
			b.WriteString(" | " + scores[family][name].String())
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// families returns the table of the generated documents, and lists where a peer is better.
func families(texts []text, read []reading) string {
	order, scores := table(texts, read)
	var b strings.Builder
	b.WriteString(rows(order, scores) + "\n")
	var behind []string
	for _, family := range order {
		for _, name := range names[1:] {
			if own := scores[family][names[0]].right; scores[family][name].right > own {
				behind = append(behind, fmt.Sprintf("%s of %s", name, family))
			}
		}
	}
	if behind == nil {
		b.WriteString("No peer reads more of any kind.\n")
	} else {
		b.WriteString("A peer reads more: " + strings.Join(behind, ", ") + ".\n")
	}
	return b.String()
}

// losses returns the table of the published texts, and lists those that the decoder does not read as their tests
// expect.
func losses(texts []text, read []reading) string {
	order, scores := table(texts, read)
	var b strings.Builder
	b.WriteString("\n" + told + rows(order, scores) + "\n" + listed + "| text | its test says | is read as |\n|---|---|---|\n")
	for i, t := range texts {
		got := read[i][names[0]]
		if got != nil && same(*got, string(t.Want)) {
			continue
		}
		is := "refused"
		if got != nil {
			is = code(*got)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(t.Text), code(string(t.Want)), is)
	}
	return b.String()
}

// code formats a text as code in a cell of a table.
func code(s string) string {
	q := strconv.QuoteToGraphic(s)
	q = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	if r := []rune(q); len(r) > 100 {
		q = string(r[:99]) + "…"
	}
	q = strings.ReplaceAll(q, "|", `\|`)
	ticks := "`"
	for strings.Contains(q, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 || q == "" {
		return ticks + " " + q + " " + ticks
	}
	return ticks + q + ticks
}

// intro has placeholders for the versions of the peers and the hash of the documents.
const intro = "Documents that are generated with one fault each, whose value is known, read by the decoder without a type at the level\n" +
	"`safe` and by its peers: how many come out right, wrong and refused. The peers are BAML, which has no reading without a\n" +
	"type and is given one of all values of JSON, jsonrepair, partial-json, `parsePartialJson` of the AI SDK and\n" +
	"best-effort-json-parser from npm, kaptinlin/jsonrepair and RealAlexandreAI/json-repair, ports to Go of jsonrepair and of\n" +
	"Python's json_repair.\n\n" +
	"`make reading-peers` writes this section anew, here with\n%s,\n" +
	"from the documents with the hash `%s`.\n\n"

const told = "The texts in the tests that three peers publish with their code, by the values that the tests say. Those of\n" +
	"best-effort-json-parser are cut, and read for what is known of them (`--partial`), to which a last number that may go\n" +
	"on does not belong:\n\n"

const listed = "Of these the decoder reads otherwise those below. A text without JSON is refused, as it is no value of JSON:\n\n"
