package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/generable/dialect"
)

// Types with everything that can be declared about them.
const described = `
Measurement = schema("Distance measurement between two points",
    distance = field(float, "Value in meters"),
    label = field(str, "Measurement label"),
)
Severity = enum("low", "medium", "high", _doc = "How bad it is")
Finding = schema("One finding",
    severity = Severity,
    where = field(str | None, "File and line, when known"),
    score = field(int, "How sure", ge = 0, le = 10),
    tags = field(list[str], "Labels", default = []),
    sizes = dict[str, Measurement],
)
Approved = schema("Code is ready to ship", confidence = field(float, "Confidence score 0.0 to 1.0"))
Rejected = schema("Code needs changes", reason = field(str, "Reason for rejection"), findings = list[Finding])
Decision = union("Decision on whether code is ready to ship", Approved, Rejected)
Note = schema("A note", _llm_description = "A note is one line,\nno more.", text = str)
Specification = schema("A structured API specification", endpoints = field(list[str], "Paths to implement"), owner = str)
`

// systems are the agents whose system texts are promised; each answers once.
var systems = []struct{ name, src, in, answer string }{
	{"prompt_alone", `main = agent(prompt = "You are brief.")`, "x", "y"},
	{"schema", `main = agent(output = Measurement, prompt = "Measure.")`, "x", `{"distance": 1, "label": "l"}`},
	{"union", `main = agent(output = Decision, prompt = "Review.")`, "x", `{"type": "Approved", "confidence": 1}`},
	{"list", `main = agent(output = list[Finding], prompt = "Find.")`, "x", `[]`},
	{"enum", `main = agent(output = Severity, prompt = "Judge.")`, "x", `low`},
	{"optional", `main = agent(output = Measurement | None, prompt = "Measure, if you can.")`, "x", `null`},
	{"skill", `
main = agent(input = Specification, output = Decision, prompt = "You review.", skills = [
    skill("review-code", "Reviews production code.", knowledge = {
        "style-guide": knowledge("Preferred coding style", "tabs"),
        "examples": knowledge("Good code", lambda: "good"),
    }),
])`, `{"endpoints": ["/a"], "owner": "me"}`, `{"type": "Approved", "confidence": 1}`},
	{"skill_of_text", `main = agent(skills = [skill("shout", "Makes text loud.")])`, "x", "X"},
	{"own_description", `main = agent(output = Note, prompt = "Write.")`, "x", `{"text": "t"}`},
	{"own_skill_description", `
main = agent(output = Measurement, prompt = "Measure.", skills = [skill("m", "Measures.", llm_description = "Only measure.\nNever guess.")])
`, "x", `{"distance": 1, "label": "l"}`},
	{"template", `main = agent(output = Severity, prompt = template("On {{input}}:"), skills = [skill("judge", "Judges.")])`, "x", `low`},
}

// Promise 2.14 (language): the system message that a model receives contains the agent's prompt, its skills'
// descriptions and the prompt fragment of its output type, in documented wording.
func TestPromise_2_14_SystemPrompt(t *testing.T) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			_, calls := asked(t, described+s.src, s.in, map[string][]string{"main": {s.answer}})
			golden(t, "prompts/"+s.name, calls[0].Request.System+"\n")
		})
	}
	for name, parts := range map[string][]string{ // parts that a golden file must not lose unnoticed
		"union":                 {"Review.\n\n", `Set "type" to the variant name.`, "Approved: Code is ready to ship", "<float: Confidence score 0.0 to 1.0>", "Decision: Decision on whether code is ready to ship\n"},
		"skill":                 {"You review.\n\n", "## Skill: review-code", "- endpoints (list[str]): Paths to implement", "- style-guide — Preferred coding style"},
		"own_description":       {"A note is one line,\nno more."},
		"own_skill_description": {"Only measure.\nNever guess."},
		"template":              {"On x:\n\n## Skill: judge"},
	} {
		for _, s := range systems {
			if s.name != name {
				continue
			}
			_, calls := asked(t, described+s.src, s.in, map[string][]string{"main": {s.answer}})
			for _, p := range parts {
				if !strings.Contains(calls[0].Request.System, p) {
					t.Errorf("%s: the system text lacks %q:\n%s", name, p, calls[0].Request.System)
				}
			}
			if strings.Contains(calls[0].Request.System, "tabs") {
				t.Errorf("%s: knowledge that nobody asked for stands in the system text", name)
			}
		}
	}
}

// Promise 2.15 (language): `llm_description()`, `json_schema()` and `prompt_fragment()` return the documented texts,
// and the same type reaches the model's provider for constrained decoding.
func TestPromise_2_15_Artefacts(t *testing.T) {
	answers := map[string]string{
		"Measurement": `{"distance": 1, "label": "l"}`, "Finding": `{"severity": "low", "score": 1, "sizes": {}}`,
		"Decision": `{"type": "Approved", "confidence": 1}`, "Severity": "low", "Note": `{"text": "t"}`, "list[Measurement]": "[]", "Measurement | None": "null"}
	for _, name := range []string{"Measurement", "Finding", "Decision", "Severity", "Note", "list[Measurement]", "Measurement | None"} {
		mod := loaded(t, agentscript.New(), described+`
def main():
    return "\n".join(["# llm_description", T.llm_description(), "", "# prompt_fragment", T.prompt_fragment(), "", "# json_schema", json.indent(T.json_schema())])
`+"T = "+name+"\n")
		res, err := mod.Start(t.Context()).Wait()
		if err != nil {
			t.Fatal(err)
		}
		file := strings.NewReplacer("[", "_of_", "]", "", " | None", "_or_none").Replace(name)
		golden(t, "artefacts/"+file, res.Text()+"\n")

		_, calls := asked(t, described+"main = agent(output = "+name+", prompt = \"Do.\")\n", "x", map[string][]string{"main": {answers[name]}})
		schema, err := loaded(t, agentscript.New(), described+"T = "+name+"\ndef main():\n    return T.json_schema()\n").Start(t.Context()).Wait()
		if err != nil {
			t.Fatal(err)
		}
		if out := calls[0].Request.Output; out == nil || out.Type.JSONSchema() != schema.Text() {
			t.Errorf("%s does not reach the model's provider", name)
		}
		_, bodies, _, err := overTheWire(t, "ollama/qwen3", described+"main = agent(output = "+name+", prompt = \"Do.\")\n", input("x"), llmtest.Reply{Text: answers[name]})
		if err != nil {
			t.Fatal(err)
		}
		made, err := dialect.Compile(calls[0].Request.Output.Type, "ollama")
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal([]byte(made.Schema), &want); err != nil {
			t.Fatal(err)
		}
		if sent := compact(bodies[0]["format"]); sent != compact(want) {
			t.Errorf("%s: the provider holds the model to %s, and the type is %s", name, sent, made.Schema)
		}
	}
	compute(t, []computation{
		{"the schema as a dict", described + `
def got():
    s = Measurement.json_schema(as_dict = True)
    return [s["required"], s["properties"]["distance"], s["additionalProperties"], s == json.decode(Measurement.json_schema())]
`, `[["distance","label"],{"type":"number","description":"Value in meters"},false,true]`},
		{"a description of its own", described + `
def got():
    return Note.llm_description()
`, `"A note is one line,\nno more."`},
		{"a recursive type", `
Tree = schema("A tree", label = str, children = list[ref("Tree")])
def got():
    s = Tree.json_schema(as_dict = True)
    return ["$defs" in s, Tree.from_llm_output('{"label": "a", "children": [{"label": "b", "children": []}]}')]
`, `[true,{"label":"a","children":[{"label":"b","children":[]}]}]`},
	})
}

// Promise 2.16 (language): a value that arrives field by field reports which fields have arrived, never changes, and
// becomes an instance when it is complete.
func TestPromise_2_16_Partial(t *testing.T) {
	compute(t, []computation{
		{"field by field", described + `
def got():
    empty = Measurement.partial()
    one = empty.with_field("distance", 2.5)
    both = one.with_field("label", "hall")
    return [empty.arrived_field_names, one.arrived_field_names, one.has("distance"), one.has("label"), one["distance"],
            one.get("label"), one.get("label", "none"), empty.to_complete(), one.to_complete(), both.to_complete(), empty.has("distance")]
`, `[[],["distance"],true,false,2.5,null,"none",null,null,{"distance":2.5,"label":"hall"},false]`},
		{"None has arrived", described + `
def got():
    p = Finding.partial().with_field("where", None)
    return [p.has("where"), p.get("where", "x"), p.has("tags")]
`, `[true,null,false]`},
	})
	refuse(t, []refusal{{"an unknown field", described + "p = Measurement.partial().with_field(\"lable\", 1)\n", "AS503", []string{"did you mean label?"}}})
}
