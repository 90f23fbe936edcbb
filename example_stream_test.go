package agentscript_test

import (
	"fmt"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/generable/lenient"
)

// An answer shown while the model still writes it, and not read further than it has to be.
func Example_stream() {
	typ, err := govalue.TypeFor[Ticket]()
	if err != nil {
		panic(err)
	}
	pieces := []string{"```js", "on\n{\"title\": \"Printer ", "on fire\", \"urgent\": tr", "ue, \"tags\": [", "\"hardware\"]}"}

	stream := lenient.NewStream(typ, lenient.StreamOptions{
		On: func(e *lenient.StreamEvent) {
			if e.Kind == lenient.StreamText {
				fmt.Printf("%s += %q\n", e.Path(), e.Text)
			}
		},
		Stop: func(e *lenient.StreamEvent) bool { return e.Path() == ".urgent" },
	})
	for _, piece := range pieces {
		if !stream.Feed(piece) { // no more is wanted
			break
		}
	}
	fmt.Println(generable.JSON(stream.Snapshot(), nil))
	res := stream.Close()

	fmt.Println(res.OK, generable.JSON(res.Value, nil))
	// Output:
	// .title += "Printer "
	// .title += "on fire"
	// {"title":"Printer on fire","urgent":true,"tags":[]}
	// true {"title":"Printer on fire","urgent":true,"tags":[]}
}
