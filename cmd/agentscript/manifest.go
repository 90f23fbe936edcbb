package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// manifestFlags ask check what scripts may touch.
type manifestFlags struct {
	asked   bool
	against string
	saved   []agentscript.Manifest // of against
}

func (f *manifestFlags) addTo(set *pflag.FlagSet) {
	set.BoolVar(&f.asked, "manifest", false, "print what a run may touch: commands, hosts, paths, variables, tools, models, servers")
	set.StringVar(&f.against, "manifest-against", "", "compare that with this `FILE` of check --manifest --format json: what is new is an error")
}

// read reads what is compared with.
func (f *manifestFlags) read() *failure {
	if f.against == "" {
		return nil
	}
	text, err := os.ReadFile(f.against)
	if err != nil {
		return usagef("", "--manifest-against %s: %s", f.against, fileProblem(err))
	}
	var doc struct {
		Manifests []agentscript.Manifest `json:"manifests"`
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Manifests == nil {
		return usagef("save one: agentscript check --manifest --format json FILE > "+f.against, "--manifest-against %s: it is no manifest", f.against)
	}
	f.saved = doc.Manifests
	return nil
}

// widened is what a script may touch that its saved manifest does not hold.
func (f *manifestFlags) widened(m agentscript.Manifest) diag.List {
	if f.against == "" {
		return nil
	}
	for _, old := range f.saved {
		if old.Script == m.Script {
			return m.Widened(old)
		}
	}
	return diag.List{{Code: diag.Widened, Span: diag.Span{Pos: diag.Pos{File: m.Script}}, Message: fmt.Sprintf("%s holds no manifest of %s", f.against, m.Script),
		Help: []string{"save it there: check --manifest --format json"}}}
}
