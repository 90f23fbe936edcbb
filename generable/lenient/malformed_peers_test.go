package lenient

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// documentsFile is where `make reading-peers` has the documents written that it gives to all decoders.
var documentsFile = flag.String("documents", "", "write the documents of one malformation to this file, as JSON lines")

// TestDocumentsForPeers writes the documents of one malformation, each with what it stands for.
func TestDocumentsForPeers(t *testing.T) {
	if *documentsFile == "" {
		t.Skip("only with -documents")
	}
	var b strings.Builder
	for family, documents := range documentsByFamily() {
		for _, d := range documents {
			line, err := json.Marshal(map[string]any{"family": family, "text": d.text(), "want": json.RawMessage(generable.JSON(d.value, nil))})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
	}
	if err := os.WriteFile(*documentsFile, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// documentsByFamily yields for each kind of malformation its documents.
func documentsByFamily() func(yield func(string, []*document) bool) {
	return func(yield func(string, []*document) bool) {
		for i, k := range slices.Concat(malformations, structured) {
			var documents []*document
			for seed := range uint64(40) {
				if d, _ := malformed(seed*1000+uint64(i), k); d != nil {
					documents = append(documents, d)
				}
			}
			if !yield(k.name, documents) {
				return
			}
		}
	}
}

// readingPage has the table of all decoders on these documents.
const readingPage = "../../docs/decoding.md"

// TestReadingBesidePeers holds the decoder to the table of the page: it reads as many documents of each kind right as
// the table says, and no peer reads more of a kind.
func TestReadingBesidePeers(t *testing.T) {
	page, err := os.ReadFile(readingPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{} // the cells of the decoder and its peers
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); len(cells) == 7 {
			rows[strings.TrimPrefix(cells[0], "| ")] = cells[1:]
		}
	}
	for family, documents := range documentsByFamily() {
		if rows[family] == nil {
			t.Errorf("%s: no row in %s; run `make reading-peers`", family, readingPage)
			continue
		}
		right := 0
		for _, d := range documents {
			if r := Decode(nil, d.text(), generable.Options{}); r.OK && generable.JSON(r.Value, nil) == generable.JSON(d.value, nil) {
				right++
			}
		}
		for i, cell := range rows[family] {
			var want int
			if _, err := fmt.Sscanf(cell, "%d / ", &want); err != nil {
				t.Errorf("%s: %q: %v", family, cell, err)
			}
			if right < want {
				t.Errorf("%s: %d of %d are read right, column %d of the page says %d", family, right, len(documents), i+1, want)
			}
		}
	}
}
