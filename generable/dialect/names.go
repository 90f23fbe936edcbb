package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// plainName replaces what is neither ASCII letter nor digit nor one of the extra characters
// by an underscore, and cuts the name at most characters; 0 is no limit.
func plainName(s, extra string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || strings.ContainsRune(extra, r) {
			return r
		}
		return '_'
	}, s)
	if most > 0 && len(s) > most {
		s = s[:most]
	}
	return s
}

// listsText reports whether the target takes texts as names and in enums.
func (r *Rules) listsText(texts ...string) bool {
	return !r.PlainNames || !slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsAny(s, "\"\n") })
}

// schemaName is the name that a request gives the schema of t.
func schemaName(t *generable.Type, most int) string {
	name := strings.Trim(plainName(t.String(), "-", 0), "_")
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	if name == "" {
		name = "answer"
	}
	if most > 0 && len(name) > most {
		name = name[:most]
	}
	return name
}

// names gives each shape that is written under $defs a name of its own.
type names struct {
	of   map[*shape]string
	used map[string]bool
}

func newNames() *names { return &names{of: make(map[*shape]string), used: make(map[string]bool)} }

func (n *names) name(s *shape) string {
	if name, ok := n.of[s]; ok {
		return name
	}
	base := plainName(s.nat.String(), ".-", 48)
	if s.tag != "" {
		base += "." + plainName(s.tag, ".-", 16)
	}
	name := base
	for i := 2; n.used[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	n.of[s], n.used[name] = name, true
	return name
}
