package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// flowFamilies are flows of one habit each, of about n bytes. Reading flows must be linear in each.
var flowFamilies = map[string]func(n int) string{
	"lists":        func(n int) string { return strings.Repeat("[", n) },
	"objects":      func(n int) string { return strings.Repeat(`{"a":`, n/5) },
	"items":        func(n int) string { return flowWith(`"x": [` + strings.Repeat("1,", n/2) + "]") },
	"open texts":   func(n int) string { return strings.Repeat(`"`+"\n", n/2) },
	"open comment": func(n int) string { return strings.Repeat("/*", n/2) },
	"commas":       func(n int) string { return "{" + strings.Repeat(",", n) },
	"no commas":    func(n int) string { return "{" + strings.Repeat(`"a":1 `, n/6) + "}" },
	"unread":       func(n int) string { return flowWith(numberedLines(n, `"x#": 1,`)) },
	"unread near":  func(n int) string { return flowWith(numberedLines(n, `"agent#": 1,`)) },
	"key twice":    func(n int) string { return flowWith(strings.Repeat(`"x":1,`, n/6)) },
	"long key":     func(n int) string { return flowWith(`"` + strings.Repeat("k", n) + `": {"a": 1, "a": 2}`) },
	"comments":     func(n int) string { return strings.Repeat("//\n", n/3) + flowWith("") },
	"blanks":       func(n int) string { return strings.Repeat(" ", n) + flowWith("") },
	"escapes":      func(n int) string { return flowOf(flowTask(strings.Repeat(`\u00e9`, n/6)), "") },
	"bad escapes":  func(n int) string { return flowOf(flowTask(strings.Repeat(`\q`, n/2)), "") },
	"long name":    func(n int) string { return flowOf(flowTask(strings.Repeat("a", n)), "") },
	"long text": func(n int) string {
		return flowOf(strings.Replace(flowTask("a"), "do", strings.Repeat("é", n/2), 1), "")
	},
	"digits":      func(n int) string { return flowWith(`"version": ` + strings.Repeat("9", n)) },
	"invalid":     func(n int) string { return flowWith(`"x": "` + strings.Repeat("\xff", n) + `"`) },
	"names twice": func(n int) string { return flowOf(numberedLines(n, flowTask("a")+","), "") },
	"row":         func(n int) string { return flowOf(numberedLines(n, flowTask("a#")+","), "") },
	"chain": func(n int) string {
		return flowOf(numberedAgents(n), numberedEdges(n, func(i int) (int, int) { return i, i + 1 }))
	},
	"back": func(n int) string {
		return flowOf(numberedAgents(n), numberedEdges(n, func(i int) (int, int) { return i + 1, i }))
	},
	"star": func(n int) string {
		return flowOf(numberedAgents(n), numberedEdges(n, func(i int) (int, int) { return 0, i }))
	},
	"stars": func(n int) string {
		return flowOf(numberedAgents(n), numberedEdges(n, func(i int) (int, int) { return i, 0 }))
	},
	"complete": func(n int) string { return completeFlow(n) },
	"nowhere": func(n int) string {
		return flowOf(numberedAgents(n/2), numberedLines(n/2, `{"from": "a1", "to": "no#"},`))
	},
	"numbers":     func(n int) string { return conditionsFlow(n, "equals", "#") },
	"less":        func(n int) string { return conditionsFlow(n, "less", "#") },
	"words":       func(n int) string { return conditionsFlow(n, "equals", `"w#"`) },
	"text orders": func(n int) string { return conditionsFlow(n, "more", `"w#"`) },
	"unequal":     func(n int) string { return conditionsFlow(n, "not_equals", `"w#"`) },
	"mixed":       func(n int) string { return conditionsFlow(n, "equals", `"w#"},"x":{"a":1`) },
	"tools":       func(n int) string { return withTools(flowOf(flowTask("a"), ""), toolsOf(n)) },
	"tools twice": func(n int) string {
		return withTools(flowOf(flowTask("a"), ""), strings.Repeat(`{"name": "t", "type": "local", "parameters": {"path": "x"}},`, n/60))
	},
	"tool names":   func(n int) string { return flowOf(namesTools(n), "") },
	"names, tools": func(n int) string { return withTools(flowOf(namesTools(n/2), ""), toolsOf(n/2)) },
	"children":     func(n int) string { return flowOf(parallelOf(n, `"c",`)+","+flowTask("c"), "") },
	"no children":  func(n int) string { return flowOf(parallelOf(n, `"c#",`)+","+flowTask("c"), "") },
	"headers":      func(n int) string { return serverFlow(numberedLines(n, `"h#": "v",`)) },
	"bad headers":  func(n int) string { return serverFlow(numberedLines(n, `"h #": "v",`)) },
	"no objects":   func(n int) string { return flowOf(strings.Repeat("1,", n/2), "") },
	"placeholders": func(n int) string { return flowOf(numberedLines(n, flowTask("${a#}")+","), "") },
	"braces": func(n int) string {
		return flowOf(strings.Replace(flowTask("a"), "do", strings.Repeat("{{a ", n/4), 1), "")
	},
	"verdicts": func(n int) string { return strings.Replace(feedbackFlow(n), `"task"`, `"verify"`, 1) },
	"models": func(n int) string {
		return flowOf(numberedLines(n, strings.Replace(flowTask("a#"), `"type"`, `"model": "zz/#", "type"`, 1)+","), "")
	},
	"bad types": func(n int) string { return flowOf(numberedLines(n, `{"name": "a#", "type": "tusk"},`), "") },
	"parallel cond": func(n int) string {
		return flowOf(numberedLines(n, `{"name": "p#", "type": "parallel", "params": {"agents": ["a"], "merge": {"variable": "x", "operation": "equals", "value": 1}}},`)+flowTask("a"), "")
	},
}

func flowTask(name string) string {
	return `{"name": "` + name + `", "type": "task", "params": {"task": "do"}}`
}

func flowOf(agents, transitions string) string {
	return `{"id": "f", "version": "1", "agents": [` + agents + `], "transitions": [` + transitions + "]}"
}

func flowWith(member string) string {
	return `{"id": "f", "version": "1", "agents": [` + flowTask("a") + `], ` + member + "}"
}

func numberedAgents(n int) string {
	return flowTask("a0") + "," + numberedLines(n/2, flowTask("a#")+",")
}

// numberedEdges are transitions between agents of numberedAgents.
func numberedEdges(n int, of func(i int) (from, to int)) string {
	agents := strings.Count(numberedAgents(n), `"do"`)
	var b strings.Builder
	for i := 0; i+1 < agents; i++ {
		from, to := of(i)
		fmt.Fprintf(&b, `{"from": "a%d", "to": "a%d"},`, from, to)
	}
	return b.String()
}

// completeFlow has transitions from each agent to each, by number.
func completeFlow(n int) string {
	k := 1
	for k*k*110 < n {
		k++
	}
	var agents, edges strings.Builder
	for i := range k {
		agents.WriteString(flowTask("a"+strconv.Itoa(i)) + ",")
		for j := range k {
			fmt.Fprintf(&edges, `{"from": "a%d", "to": "a%d", "condition": {"variable": "output", "operation": "equals", "value": %d}},`, i, j, j)
		}
		fmt.Fprintf(&edges, `{"from": "a%d", "to": "__finish__"},`, i)
	}
	return flowOf(agents.String(), edges.String())
}

// conditionsFlow has one agent with many outgoing transitions.
func conditionsFlow(n int, operation, value string) string {
	edge := `{"from": "a", "to": "b", "condition": {"variable": "output", "operation": "` + operation + `", "value": ` + value + `}},`
	return flowOf(flowTask("a")+","+flowTask("b"), numberedLines(n, edge)+`{"from": "a", "to": "__finish__"}`)
}

func feedbackFlow(n int) string {
	edge := `{"from": "a", "to": "b", "condition": {"variable": "output.feedback", "operation": "equals", "value": "w#"}},`
	return flowOf(flowTask("a")+","+flowTask("b"), numberedLines(n, edge)+`{"from": "a", "to": "__finish__"}`)
}

func toolsOf(n int) string {
	return numberedLines(n, `{"name": "t#", "type": "local", "parameters": {"path": "x"}},`)
}

func withTools(flow, tools string) string {
	return strings.TrimSuffix(flow, "}") + `, "tools": [` + tools + "]}"
}

func namesTools(n int) string {
	return strings.Replace(flowTask("a"), `"do"`, `"do", "toolNames": [`+numberedLines(n, `"t#",`)+"]", 1)
}

func parallelOf(n int, child string) string {
	return `{"name": "p", "type": "parallel", "params": {"agents": [` + numberedLines(n, child) + "]}}"
}

func serverFlow(headers string) string {
	return strings.TrimSuffix(flowOf(flowTask("a"), ""), "}") +
		`, "tools": [{"name": "s", "type": "mcp", "parameters": {"transport": "http", "url": "http://h/", "headers": {` + headers + "}}}]}"
}
