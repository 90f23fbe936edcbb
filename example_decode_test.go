package agentscript_test

import (
	"fmt"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
)

type Ticket struct {
	_      struct{} `doc:"A request of a customer"`
	Title  string   `json:"title" doc:"in a few words" jsonschema:"maxLength=60"`
	Urgent bool     `json:"urgent"`
	Tags   []string `json:"tags,omitempty"`
	Votes  int      `json:"votes" jsonschema:"minimum=0,default=0"`
}

// Decodes a model's answer into a Go struct.
func Example_decode() {
	answer := "Sure!\n```json\n{'title': 'Printer on fire', urgent: yes, \"tags\": [\"hardware\",],\n```"

	typ, err := govalue.TypeFor[Ticket]()
	if err != nil {
		panic(err)
	}
	res := lenient.Decode(typ, answer, generable.Options{MaxCost: 20})
	if !res.OK {
		fmt.Println(res.Complaint()) // the text of a second question
		return
	}
	ticket, err := govalue.To[Ticket](res.Value)

	fmt.Println(ticket.Title, ticket.Urgent, ticket.Tags, ticket.Votes, err)
	// Output: Printer on fire true [hardware] 0 <nil>
}

// Checks the arguments of a tool against its JSON Schema.
func Example_jsonSchema() {
	schema := `{"type": "object", "properties": {
		"city": {"type": "string", "minLength": 1},
		"days": {"type": "integer", "maximum": 14}}, "required": ["city"]}`

	typ, ignored, errs := jsonschema.Parse(schema, jsonschema.Options{Name: "Forecast", Lenient: true})
	if errs != nil {
		panic(errs) // each with its place: "#/properties/days/type: want one of …"
	}
	res := lenient.Decode(typ, `{"city": "Bergen", "days": "30"}`, generable.Options{})

	fmt.Println(len(ignored), res.OK, res.Errors)
	fmt.Println(generable.JSON(lenient.Decode(typ, `{"city": "Bergen"}`, generable.Options{}).Value, typ))
	// Output:
	// 0 false days: want at most 14, got "30" at line 1, column 28
	// {"city":"Bergen"}
}
