package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/gentest"
)

// One file for each sample type shows the result for every target. Targets with the same schema share it.
func TestSchemas(t *testing.T) {
	for name, typ := range samples() {
		var b strings.Builder
		reports := Report(typ)
		written := map[string]string{}
		for _, r := range reports {
			if r.Err != nil {
				t.Fatalf("%s, %s: %v", name, r.Target, r.Err)
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, []byte(r.Wire.Schema), "", "  "); err != nil {
				t.Fatalf("%s, %s: %v\n%s", name, r.Target, err, r.Wire.Schema)
			}
			if found := lint(r.Target, r.Wire.Schema); found != nil {
				t.Errorf("%s, %s:\n%s", name, r.Target, strings.Join(found, "\n"))
			}
			text := fmt.Sprintf("name: %s\nschema: %s\nprompt:\n%s\n", r.Wire.Name, pretty.String(), r.Wire.Prompt)
			if first, ok := written[text]; ok {
				text = "as for " + first + "\n"
			} else {
				written[text] = r.Target
			}
			fmt.Fprintf(&b, "=== %s\n%s\n", r.Target, text)
		}
		gentest.Golden(t, name+".txt", fmt.Sprintf("%s=== report\n%s", b.String(), reports))
	}
}

func TestReportIsStable(t *testing.T) {
	for name := range samples() {
		if a, b := Report(samples()[name]).String(), Report(samples()[name]).String(); a != b {
			t.Errorf("%s: two reports differ:\n%s\n%s", name, a, b)
		}
	}
}
