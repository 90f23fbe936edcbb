// Package cover counts which parts of composed flows runs went through.
//
// [New] lists the parts that the nodes of a script have: the ways of each structure, the cases that each branch chooses
// by, the tools and remedies of each agent. A [Graph] receives the events of any number of runs of these nodes and
// counts them. [Merge] adds up the counts of several graphs, including graphs of the same script loaded several times:
//
//	g := cover.New(module.Nodes()...)
//	module.Start(ctx, agentscript.OnEvent(cover.Events, g.Event)).Wait()
//	for _, item := range g.Items() { ... }
//
// Events carry the node that they concern, so nodes with the same name are counted separately, and a node counts the
// same wherever it is called from.
package cover

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/sorting"
)

// Family is the kind of an item. Coverage is computed for each family separately.
type Family string

// The families.
const (
	Edge    Family = "edge"    // a way of a structure, a chosen skill, a remedy, on_bad_output
	Variant Family = "variant" // a case of the type that a branch chooses by
	Tool    Family = "tool"    // a tool of an agent was called, or a call of it failed; denied calls do not count
	Agent   Family = "agent"   // an agent was called
)

// Item is one part of a flow, and how often runs went through it.
type Item struct {
	Family Family   `json:"family"`
	Kind   string   `json:"kind"` // of the node: branch, loop, agent
	Node   string   `json:"node"`
	Pos    diag.Pos `json:"pos"`         // of the item if the script states it, else of the node
	Nth    int      `json:"n,omitempty"` // distinguishes the parts that one place of a script creates several times, from 0
	Name   string   `json:"name"`        // the way, the case, the tool
	Count  uint64   `json:"count"`
}

// String describes the item, as in "flow.star:12:1: branch decide: Approved".
func (it Item) String() string {
	node := it.Node
	if it.Nth > 0 {
		node = fmt.Sprintf("%s#%d", node, it.Nth)
	}
	if node != it.Kind {
		node = it.Kind + " " + node
	}
	return fmt.Sprintf("%s: %s: %s", it.Pos, node, it.Name)
}

// Events are the kinds of events that a [Graph] counts.
const Events = engine.EventNode | engine.EventRoute | engine.EventTool | engine.EventSkill

// Graph counts the events of runs. It is safe for any number of concurrent runs.
type Graph struct {
	items  []Item
	counts []atomic.Uint64    // by item
	parts  map[any]*countable // by *flow.Node and *agent.Spec
}

// countable holds the indexes of a node's or an agent's items; -1 means no item.
type countable struct {
	called int
	ways   []int
	named  map[string]int // cases of a branch, remedies and skills of an agent
	tools  map[string]int // the tool was called; the next index is for failed calls
}

// New lists what runs of the given nodes, and of the nodes inside them, can go through.
func New(nodes ...*flow.Node) *Graph {
	g := &Graph{parts: map[any]*countable{}}
	for _, n := range nodes {
		g.add(n)
	}
	seen := map[Item]int{}
	for i := range g.items {
		it := &g.items[i]
		key := *it
		it.Nth = seen[key]
		seen[key]++
	}
	g.counts = make([]atomic.Uint64, len(g.items))
	return g
}

// add lists a node and the nodes inside it, each once.
func (g *Graph) add(n *flow.Node) {
	if n == nil || n.Failed() || g.parts[n] != nil {
		return
	}
	c := &countable{called: -1}
	g.parts[n] = c
	for i := range ways.Count(n) {
		number := -1
		if ways.Possible(n, i) {
			number = g.item(n, Edge, ways.Pos(n, i), ways.Name(n, i))
		}
		c.ways = append(c.ways, number)
	}
	for _, name := range ways.Cases(n) {
		c.name(name, g.item(n, Variant, n.Pos(), name))
	}
	if a := n.Agent(); a != nil {
		g.agent(n, a, c)
	}
	for _, kid := range n.Children() {
		g.add(kid)
	}
}

// agent lists what an agent can do.
func (g *Graph) agent(n *flow.Node, a *agent.Spec, c *countable) {
	g.parts[a] = c
	c.called = g.item(n, Agent, n.Pos(), "called")
	if skills := a.Candidates(); len(skills) > 1 {
		for _, sk := range skills {
			c.name(skillName(sk.Name), g.item(n, Edge, sk.Span.Or(n.Site().Span).Pos, skillName(sk.Name)))
		}
	}
	if a.OnBadOutput != nil {
		c.name(ways.OnBadOutput, g.item(n, Edge, n.Pos(), ways.OnBadOutput))
	}
	g.remedies(n, a.OnToolError, "", c)
	c.tools = map[string]int{}
	for _, t := range a.AllTools() {
		if _, known := c.tools[t.Name]; known { // skills may share it
			continue
		}
		at := t.Span.Or(n.Site().Span).Pos
		c.tools[t.Name] = g.item(n, Tool, at, t.Name+" called")
		g.item(n, Tool, at, t.Name+" failed")
		g.remedies(n, t.OnError, t.Name, c)
	}
	g.servers(n, a.Servers, c)
	for _, sk := range a.Skills {
		g.servers(n, sk.Servers, c)
	}
}

// servers lists the MCP servers of an agent. Their tools are known only once they are asked.
func (g *Graph) servers(n *flow.Node, list []*remote.Server, c *countable) {
	for _, s := range list {
		name := serverName(s.Name)
		if _, known := c.tools[name]; known {
			continue
		}
		at := s.Span.Or(n.Site().Span).Pos
		c.tools[name] = g.item(n, Tool, at, name+" called")
		g.item(n, Tool, at, name+" failed")
	}
}

func serverName(name string) string { return "mcp " + name }

// remedies lists the remedies for failed calls of a tool, or of all tools of an agent.
func (g *Graph) remedies(n *flow.Node, r *agent.Recovery, tool string, c *countable) {
	for _, kind := range []string{agent.FailedArgs, agent.FailedRun} {
		list := r.Of(kind)
		for i := range list {
			name := ways.Remedy(tool, kind, i, &list[i])
			c.name(name, g.item(n, Edge, list[i].Span.Or(n.Site().Span).Pos, name))
		}
	}
}

func skillName(name string) string { return "skill " + name }

// item adds an item of a node and returns its index.
func (g *Graph) item(n *flow.Node, f Family, at diag.Pos, name string) int {
	g.items = append(g.items, Item{Family: f, Kind: n.Kind().String(), Node: n.Label(), Pos: at, Name: name})
	return len(g.items) - 1
}

func (c *countable) name(name string, number int) {
	if c.named == nil {
		c.named = map[string]int{}
	}
	c.named[name] = number
}

// Event counts an event whose kind is one of [Events]. It ignores everything that is not part of the graph, such as an
// agent that a run created.
func (g *Graph) Event(e engine.Event) {
	switch d := e.Data.(type) {
	case *event.Node:
		if n, ok := d.Of.(*flow.Node); ok && n.Kind() == flow.AgentNode && d.Phase == engine.PhaseStart {
			if c := g.parts[d.Of]; c != nil {
				g.count(c.called)
			}
		}
	case *event.Route:
		c := g.parts[d.Of]
		if c == nil {
			return
		}
		if d.Index < len(c.ways) {
			g.count(c.ways[d.Index])
		}
		name := d.Case
		if _, ok := d.Of.(*agent.Spec); ok {
			name = d.Way
		}
		g.countNamed(c, name)
	case *event.Skill:
		if c := g.parts[d.Of]; c != nil {
			g.countNamed(c, skillName(d.Name))
		}
	case *event.Tool:
		if c := g.parts[d.Of]; c != nil && d.Made {
			name := d.Name
			if d.Server != "" {
				name = serverName(d.Server)
			}
			if number, ok := c.tools[name]; ok {
				if g.count(number); d.Err != nil {
					g.count(number + 1)
				}
			}
		}
	}
}

func (g *Graph) count(number int) {
	if number >= 0 {
		g.counts[number].Add(1)
	}
}

func (g *Graph) countNamed(c *countable, name string) {
	if number, ok := c.named[name]; ok && name != "" {
		g.count(number)
	}
}

// Items returns all items with their counts, in the order of their places in the script.
func (g *Graph) Items() []Item { return g.counted((*atomic.Uint64).Load) }

// Take is like [Graph.Items], but resets the counts to 0.
func (g *Graph) Take() []Item {
	return g.counted(func(n *atomic.Uint64) uint64 { return n.Swap(0) })
}

func (g *Graph) counted(count func(*atomic.Uint64) uint64) []Item {
	items := slices.Clone(g.items)
	for i := range items {
		items[i].Count = count(&g.counts[i])
	}
	return sorted(items)
}

// Merge adds up the counts of equal items in several lists. The result also has the items that only some lists have:
// each list may be of another script.
func Merge(lists ...[]Item) []Item {
	var all []Item
	at := map[Item]int{}
	for _, it := range slices.Concat(lists...) {
		key := it
		key.Count = 0
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, key)
		}
		all[i].Count += it.Count
	}
	return sorted(all)
}

// sorted sorts items by their places. Items with the same place keep their order, except that those of nodes with the
// same name are grouped by node.
func sorted(items []Item) []Item {
	sorting.By(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Nth, b.Nth))
	})
	return items
}

// Total is the number of items of a family, and how many of them runs went through.
type Total struct {
	Family  Family `json:"family"`
	Covered int    `json:"covered"`
	All     int    `json:"all"`
}

// Percent returns the covered share in percent. It is 100 if there are no items.
func (t Total) Percent() float64 {
	if t.All == 0 {
		return 100
	}
	return 100 * float64(t.Covered) / float64(t.All)
}

// Totals counts the items of each family.
func Totals(items []Item) []Total {
	totals := []Total{{Family: Edge}, {Family: Variant}, {Family: Tool}, {Family: Agent}}
	for _, it := range items {
		i := slices.IndexFunc(totals, func(t Total) bool { return t.Family == it.Family })
		if totals[i].All++; it.Count > 0 {
			totals[i].Covered++
		}
	}
	return totals
}
