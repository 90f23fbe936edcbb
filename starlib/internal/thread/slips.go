package thread

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/internal/text"
)

// slip is a mistake that the interpreter tells in its own words, and its remedy: an expansion
// of what the expression found.
type slip struct {
	says *regexp.Regexp
	help string
}

//go:embed slips.txt
var slipTable string

// slips are read when a script has failed, so that those that do not need not wait.
var slips = sync.OnceValue(func() []slip {
	var out []slip
	for line := range strings.Lines(slipTable) {
		line = strings.TrimSuffix(line, "\n")
		help, indented := strings.CutPrefix(line, "\t")
		switch {
		case indented:
			out[len(out)-1].help = help
		case line != "" && line[0] != '#':
			out = append(out, slip{says: regexp.MustCompile(line)})
		}
	}
	return out
})

// slipHelp is the remedy for what the interpreter says, "" when it is none of the slips.
func slipHelp(msg string) string {
	for _, s := range slips() {
		if m := s.says.FindStringSubmatchIndex(msg); m != nil {
			return string(s.says.ExpandString(nil, s.help, msg, m))
		}
	}
	return ""
}

//go:embed foreign.txt
var foreignTable string

// Foreign says what to write instead of the methods and fields that other languages and libraries have, by type and name.
var Foreign = sync.OnceValue(func() map[string]map[string]string { return text.Synonyms(foreignTable) })
