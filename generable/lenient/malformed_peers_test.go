package lenient

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// documentsFile is the file to which `make reading-peers` has the documents written that it passes to all decoders.
var documentsFile = flag.String("documents", "", "write the documents of one malformation to this file, as JSON lines")

// TestDocumentsForPeers writes the documents with one malformation, each with the value that it represents.
func TestDocumentsForPeers(t *testing.T) {
	if *documentsFile == "" {
		t.Skip("only with -documents")
	}
	if err := os.WriteFile(*documentsFile, documentsForPeers(t), 0o666); err != nil {
		t.Fatal(err)
	}
}

// documentsForPeers returns the content of that file.
func documentsForPeers(t *testing.T) []byte {
	var b []byte
	for family, documents := range documentsByFamily() {
		for _, d := range documents {
			line, err := json.Marshal(map[string]any{"family": family, "text": d.text(), "want": json.RawMessage(generable.JSON(d.value, nil))})
			if err != nil {
				t.Fatal(err)
			}
			b = append(append(b, line...), '\n')
		}
	}
	return b
}

// documentsByFamily yields the documents of each kind of malformation.
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

// readingPage contains the table of all decoders on these documents.
const readingPage = "../../docs/decoding.md"

// Promise 28.19 (reading): on the same generated documents the decoder is ahead of its peers in each family, and its
// losses on the peers' own corpora are listed.
func TestPromise_28_19_Peers(t *testing.T) {
	b, err := os.ReadFile(readingPage)
	if err != nil {
		t.Fatal(err)
	}
	_, page, found := strings.Cut(string(b), "## Beside its peers\n")
	page, _, _ = strings.Cut(page, "\n## ")
	if hash := fmt.Sprintf("%x", sha256.Sum256(documentsForPeers(t))); !found || !strings.Contains(page, hash) {
		t.Fatalf("the table of %s is of other documents, not of those with the hash %s: run `make reading-peers`", readingPage, hash)
	}
	for _, peer := range []string{"@boundaryml/baml", "jsonrepair", "partial-json", "ai", "best-effort-json-parser", "kaptinlin/jsonrepair", "RealAlexandreAI/json-repair"} {
		if !regexp.MustCompile(regexp.QuoteMeta(peer) + ` \d+\.\d+\.\d+`).MatchString(page) {
			t.Errorf("the page does not say which version of %s", peer)
		}
	}
	var header []string
	rows := map[string][]string{} // by family, the cells of the decoder and its peers
	for line := range strings.Lines(page) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); strings.HasPrefix(line, "| | agentscript | ") {
			header = cells
		} else if len(header) > 0 && len(cells) == len(header)+1 {
			rows[cells[0]] = cells[1:]
		}
	}
	if len(header) != 8 {
		t.Fatalf("the table has the columns %q", header)
	}
	ahead := 0 // families in which all peers read less
	for family, documents := range documentsByFamily() {
		cells := rows[family]
		if cells == nil {
			t.Errorf("%s: no row in %s", family, readingPage)
			continue
		}
		right, wrong, refused := 0, 0, 0
		for _, d := range documents {
			switch r := Decode(nil, d.text(), generable.Options{}); {
			case !r.OK:
				refused++
			case generable.JSON(r.Value, nil) == generable.JSON(d.value, nil):
				right++
			default:
				wrong++
			}
		}
		if got := fmt.Sprintf("%d / %d / %d", right, wrong, refused); got != cells[0] {
			t.Errorf("%s: %s are right, wrong and refused, the page says %s: run `make reading-peers`", family, got, cells[0])
		}
		most := 0
		for i, cell := range cells[1:] {
			n, _, _ := strings.Cut(cell, " / ")
			theirs, err := strconv.Atoi(n)
			if err != nil {
				t.Errorf("%s: %q: %v", family, cell, err)
			}
			if most = max(most, theirs); theirs > right {
				t.Errorf("%s: %d are read right by %s, %d by the decoder", family, theirs, header[i+1], right)
			}
		}
		if right > most {
			ahead++
		}
	}
	if ahead < len(malformations)/2 {
		t.Errorf("the decoder alone is ahead in %d families", ahead)
	}
	// The losses: each corpus has its row, and as many texts are listed as it says are not read as their tests say.
	lost := 0
	for _, corpus := range []string{"github.com/kaptinlin/jsonrepair", "github.com/RealAlexandreAI/json-repair", "best-effort-json-parser"} {
		var right, wrong, refused int
		if cells := rows[corpus]; cells == nil {
			t.Errorf("%s: no row in %s", corpus, readingPage)
		} else if _, err := fmt.Sscanf(cells[0], "%d / %d / %d", &right, &wrong, &refused); err != nil || right == 0 {
			t.Errorf("%s: %q: %v", corpus, cells[0], err)
		}
		lost += wrong + refused
	}
	_, list, _ := strings.Cut(page, "| its test says | is read as |\n|---|---|---|\n")
	if listed := strings.Count("\n"+list, "\n| "); listed != lost {
		t.Errorf("%d texts are listed that are read otherwise than the tests of peers say, of %d", listed, lost)
	}
}
