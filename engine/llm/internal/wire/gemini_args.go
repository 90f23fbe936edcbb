package wire

import (
	"encoding/json"
	"strconv"
	"strings"

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
	id, name string
	opaque   *model.Opaque
	args     argNode
}

// argNode is an object, a list or a value of the arguments, in the order in which they came.
type argNode struct {
	keys  []string // of an object or list
	nodes map[string]*argNode
	list  bool
	text  *strings.Builder
	value json.RawMessage
}

func (g *geminiArgs) add(c *geminiCalled) {
	if g.id == "" {
		g.id = string(c.ID)
	}
	if g.name == "" {
		g.name = string(c.Name)
	}
	for _, p := range c.Partial {
		n := &g.args
		for _, s := range argSteps(p.Path) {
			n = n.child(s)
		}
		switch {
		case p.String != nil:
			if n.text == nil {
				n.text = &strings.Builder{}
			}
			n.text.WriteString(*p.String)
		case p.Bool != nil:
			n.value = json.RawMessage(strconv.FormatBool(*p.Bool))
		case len(p.Number) > 0:
			n.value = p.Number
		default:
			n.value = json.RawMessage("null")
		}
	}
}

func (g *geminiArgs) json() string {
	if len(g.args.keys) == 0 {
		return "{}"
	}
	var b strings.Builder
	g.args.write(&b)
	return b.String()
}

// deepestArg bounds how deep arguments in pieces go, as what is deeper is written by recursion.
const deepestArg = 100

// argSteps takes a path apart: names behind dots or in quoted brackets, numbers in brackets.
func argSteps(path string) []string {
	var steps []string
	rest := strings.TrimPrefix(path, "$")
	for rest != "" && len(steps) < deepestArg {
		switch {
		case rest[0] == '[':
			inner, tail, _ := strings.Cut(rest[1:], "]")
			if quoted := strings.Trim(inner, `'"`); quoted != inner {
				inner = "." + quoted
			}
			steps, rest = append(steps, inner), tail
		default:
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			steps, rest = append(steps, "."+rest[:end]), rest[end:]
		}
	}
	return steps
}

// child is the node of a step: a name behind a dot, or a place in a list.
func (n *argNode) child(step string) *argNode {
	if n.nodes == nil {
		n.nodes, n.list = map[string]*argNode{}, !strings.HasPrefix(step, ".")
	}
	c := n.nodes[step]
	if c == nil {
		c = &argNode{}
		n.nodes[step] = c
		n.keys = append(n.keys, step)
	}
	return c
}

func (n *argNode) write(b *strings.Builder) {
	switch {
	case len(n.keys) > 0:
		ends := "{}"
		if n.list {
			ends = "[]"
		}
		b.WriteByte(ends[0])
		for i, k := range n.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			if !n.list {
				b.WriteString(quoted(strings.TrimPrefix(k, ".")) + ":")
			}
			n.nodes[k].write(b)
		}
		b.WriteByte(ends[1])
	case n.text != nil:
		b.WriteString(quoted(n.text.String()))
	case n.value != nil:
		b.Write(n.value)
	default:
		b.WriteString("null")
	}
}
