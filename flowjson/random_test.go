package flowjson_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// object is an object of a flow in JSON.
type object map[string]any

// maker makes sound flows: whatever an agent answers leads on, and an end is reachable from anywhere.
type maker struct {
	r      *rand.Rand
	agents []object
	edges  map[string][]object // by the agent that they leave
	jumps  []string            // agents with a model to which anything may lead
	wild   bool                // edges may lead anywhere
}

const end = "__finish__"

// randomFlow returns a flow of about size agents.
func randomFlow(seed uint64, size int) string {
	m := &maker{r: rand.New(rand.NewPCG(seed, 1)), edges: map[string][]object{}}
	m.wild = m.r.IntN(4) == 0
	start := m.part(size, end)
	var edges []object
	from := []string{start}
	for _, a := range m.agents {
		if name := a["name"].(string); name != start {
			from = append(from, name)
		}
	}
	m.r.Shuffle(len(from)-1, func(i, j int) { from[i+1], from[j+1] = from[j+1], from[i+1] })
	for _, name := range from {
		edges = append(edges, m.edges[name]...)
	}
	m.r.Shuffle(len(m.agents), func(i, j int) { m.agents[i], m.agents[j] = m.agents[j], m.agents[i] })
	flow := object{"id": fmt.Sprint("flow-", seed), "version": "1.0", "agents": m.agents, "transitions": edges}
	if m.r.IntN(2) == 0 {
		flow["defaultModel"] = "openai/gpt-4o"
	}
	if len(edges) == 0 {
		delete(flow, "transitions")
	}
	b, err := json.MarshalIndent(flow, "", " ")
	if err != nil {
		panic(err)
	}
	return string(b)
}

// agent declares an agent.
func (m *maker) agent(kind string, params object) string {
	name := fmt.Sprintf("%c%d", 'a'+rune(m.r.IntN(26)), len(m.agents))
	switch m.r.IntN(20) {
	case 0:
		name += " of-two"
	case 1:
		name = fmt.Sprint("é", len(m.agents))
	}
	a := object{"name": name, "type": kind, "params": params}
	if kind == "task" || kind == "verify" {
		texts := []string{"Do it.", "Do \"this\"\nand \\that\n  as {x} says: \"\"\"x\"\"\"", "\n   Indented\n     more\n   less\n", "tail  \nnext", "ünïcode \u200b \U0001F600 '", "", "${a} {{b}} %s"}
		params["task"] = texts[m.r.IntN(len(texts))] + "!"
		if m.r.IntN(3) > 0 {
			a["prompt"] = object{"system": texts[m.r.IntN(len(texts))], "user": texts[m.r.IntN(len(texts))]}
		}
		switch m.r.IntN(5) {
		case 0:
			a["model"] = "openai/gpt-4o-mini"
			a["config"] = object{"temperature": 0.5, "maxTokens": 100, "maxIterations": 4}
		case 1:
			a["model"] = "openai/gpt-4.1"
			a["config"] = object{"topP": 1, "speculation": "a \"guess\""}
		}
		m.jumps = append(m.jumps, name)
	}
	m.agents = append(m.agents, a)
	return name
}

// edge adds a transition; when is a variable, an operation and a value.
func (m *maker) edge(from, to, take string, when ...any) {
	if m.wild && to != end && m.r.IntN(6) == 0 && take == "" && len(when) > 0 {
		if len(m.edges[from]) == 0 { // the last one goes where it must, so that an end is reachable
			to = m.jumps[m.r.IntN(len(m.jumps))]
		}
	}
	e := object{"from": from, "to": to}
	if len(when) > 0 {
		e["condition"] = object{"variable": when[0], "operation": when[1], "value": when[2]}
	}
	if take != "" {
		e["transformation"] = object{"value": "input." + take}
	}
	m.edges[from] = append(m.edges[from], e)
}

// part makes agents that lead to next, and returns the first.
func (m *maker) part(size int, next string) string {
	if size <= 1 {
		return m.leaf(next)
	}
	switch k := m.r.IntN(10); {
	case k < 3: // one after the other
		rest := m.r.IntN(size-1) + 1
		return m.part(size-rest, m.part(rest, next))
	case k < 6:
		return m.branch(size, next)
	case k < 8:
		return m.loop(size, next)
	case k == 8:
		return m.knot(size, next)
	}
	return m.parallel(next)
}

func (m *maker) leaf(next string) string {
	name := m.agent("task", object{})
	if next != end || m.r.IntN(2) == 0 {
		m.edge(name, next, "")
	}
	return name
}

// way returns the target of an edge: agents of a size that lead on, next itself, or the end.
func (m *maker) way(size int, next string) string {
	switch {
	case size <= 0:
		return next
	case m.r.IntN(8) == 0:
		return m.part(size, end)
	}
	return m.part(size, next)
}

func (m *maker) sizes(total, n int) []int {
	sizes := make([]int, n)
	for range total {
		sizes[m.r.IntN(n)]++
	}
	return sizes
}

func (m *maker) branch(size int, next string) string {
	s := m.sizes(size-1, 3)
	to := func(k int) string { return m.way(s[k], next) }
	switch m.r.IntN(8) {
	case 0:
		a := m.agent("task", object{})
		m.edge(a, to(0), "", "output", "equals", true)
		m.edge(a, to(1), "", "output", "equals", false)
		return a
	case 1:
		a := m.agent("task", object{})
		m.edge(a, to(0), "", "output", "more_or_equal", 66)
		m.edge(a, to(1), "", "output", "more_or_equal", 33)
		m.edge(a, to(2), "", "output", "less", 33)
		return a
	case 2:
		a := m.agent("task", object{})
		m.edge(a, to(0), "", "output", "equals", "red")
		m.edge(a, to(1), "", "output", "equals", "green")
		m.edge(a, to(2), "", "output", "equals", "blue")
		return a
	case 3:
		a := m.agent("task", object{})
		m.edge(a, to(0), "", "output", "equals", "red")
		m.edge(a, to(1), "", "output", "not_equals", "green")
		m.edge(a, to(2), "")
		return a
	case 4: // the same way twice
		a, b := m.agent("task", object{}), to(0)
		m.edge(a, b, "", "output", "less", 20)
		m.edge(a, to(1), "", "output", "more", 60.5)
		m.edge(a, b, "")
		return a
	case 7: // only a run knows which texts take them
		a := m.agent("task", object{})
		m.edge(a, to(0), "", "output", "more", "grave")
		m.edge(a, to(1), "", "output", "less_or_equal", "grave")
		return a
	case 5:
		a, t := m.agent("verify", object{}), m.agent("transform", object{"transformations": []object{{"value": "input.feedback"}}})
		m.edge(t, m.part(max(1, s[0]), next), "")
		m.edge(a, to(1), "", "output.success", "equals", true)
		m.edge(a, t, "", "output.success", "equals", false)
		return a
	}
	a := m.agent("verify", object{})
	m.edge(a, to(0), "feedback", "output.feedback", "equals", "red")
	m.edge(a, to(1), "success", "output.success", "not", true)
	m.edge(a, to(2), "")
	return a
}

func (m *maker) loop(size int, next string) string {
	s := m.sizes(size-1, 3)
	after := m.way(s[2], next)
	kind := []string{"verify", "task"}[m.r.IntN(2)]
	variable, is := "output", any(true)
	if kind == "verify" {
		variable = "output.success"
	}
	check := m.agent(kind, object{})
	head := check
	if s[0] > 0 {
		head = m.part(s[0], check)
	}
	back := head
	if s[1] > 0 {
		back = m.part(s[1], head)
	}
	take := ""
	if kind == "verify" {
		take = []string{"", "feedback", "success"}[m.r.IntN(3)]
	}
	if m.r.IntN(2) == 0 {
		m.edge(check, after, "", variable, "equals", is)
		m.edge(check, back, take, variable, "equals", false)
	} else {
		m.edge(check, back, take, variable, "equals", false)
		m.edge(check, after, "", variable, "equals", is)
	}
	return head
}

// knot makes two agents that lead to each other and can both be entered: no loop has two heads.
func (m *maker) knot(size int, next string) string {
	a, x, y := m.agent("task", object{}), m.agent("task", object{}), m.agent("task", object{})
	out := m.way(size-3, next)
	m.edge(a, x, "", "output", "equals", true)
	m.edge(a, y, "", "output", "equals", false)
	m.edge(x, y, "", "output", "equals", "red")
	m.edge(x, out, "")
	m.edge(y, out, "", "output", "more", 50)
	m.edge(y, x, "")
	return a
}

func (m *maker) parallel(next string) string {
	children := []string{m.agent("task", object{}), m.agent("verify", object{}), m.agent("task", object{})}
	m.jumps = slices.DeleteFunc(m.jumps, func(name string) bool { return slices.Contains(children, name) })
	if m.r.IntN(2) == 0 {
		children = append(children[:1], children[2])
		m.agents = slices.DeleteFunc(m.agents, func(a object) bool { return a["type"] == "verify" && a["name"] == children[0] })
	}
	params := object{"agents": children}
	switch m.r.IntN(4) {
	case 0:
		params["merge"] = object{"variable": "results.0.output", "operation": "not_equals", "value": object{"type": "string", "data": "grey"}}
	case 1:
		params["merge"] = object{"variable": "results.0.name", "operation": "equals", "value": object{"type": "string", "data": children[0]}}
	case 2:
		params["merge"] = object{"variable": "results.1.input", "operation": "not_equals", "value": object{"type": "int", "data": -7}}
	}
	p := m.agent("parallel", params)
	m.edge(p, next, "")
	return p
}
