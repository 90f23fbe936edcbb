package wire

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine/model"
)

// geminiPartial is a piece of a call's arguments: a value, or more of a text, at a path such
// as $.places[0].name.
type geminiPartial struct {
	Path   string          `json:"jsonPath"`
	String *string         `json:"stringValue"`
	Number json.RawMessage `json:"numberValue"`
	Bool   *bool           `json:"boolValue"`
}

// geminiArgs gathers a call whose arguments come in pieces.
type geminiArgs struct {
	id, name loose
	opaque   *model.Opaque
	args     argNode
}

// argNode is an object, a list or a value of the arguments, in the order in which they came.
type argNode struct {
	keys  []string // of an object or list
	nodes map[string]*argNode
	list  bool
	text  *strings.Builder
	value string // JSON
}

func (g *geminiArgs) add(c *geminiCalled) {
	g.id, g.name = cmp.Or(g.id, c.ID), cmp.Or(g.name, c.Name)
	for _, p := range c.Partial {
		n := g.args.at(p.Path)
		switch {
		case n == &g.args: // all of them, which are an object
		case p.String != nil:
			if n.text == nil {
				n.text = &strings.Builder{}
			}
			n.text.WriteString(*p.String)
		case p.Bool != nil:
			n.value = strconv.FormatBool(*p.Bool)
		default:
			n.value = cmp.Or(string(p.Number), "null")
		}
	}
}

// deepestArg bounds how deep arguments in pieces go, as what is deeper is written by recursion.
const deepestArg = 100

// argStep is a step of a path: a name in quotes, a place in a list, or a name behind a dot.
var argStep = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[['"]([^\]]*)['"]\]|\[([^\]]*)\]|\.?([^.\[]+)`) })

// at is the node of a path.
func (n *argNode) at(path string) *argNode {
	for _, step := range argStep().FindAllStringSubmatch(strings.TrimPrefix(path, "$"), deepestArg) {
		if n.nodes == nil {
			n.nodes, n.list = map[string]*argNode{}, step[2] != ""
		}
		key := step[1] + step[2] + step[3]
		if n.nodes[key] == nil {
			n.nodes[key] = &argNode{}
			n.keys = append(n.keys, key)
		}
		n = n.nodes[key]
	}
	return n
}

// json is the node as JSON, "" when nothing came of it.
func (n *argNode) json() string {
	var parts []string
	for _, key := range n.keys {
		part := cmp.Or(n.nodes[key].json(), "null")
		if !n.list {
			part = quoted(key) + ":" + part
		}
		parts = append(parts, part)
	}
	all := strings.Join(parts, ",")
	switch {
	case n.list:
		return "[" + all + "]"
	case len(parts) > 0:
		return "{" + all + "}"
	case n.text != nil:
		return quoted(n.text.String())
	}
	return n.value
}
