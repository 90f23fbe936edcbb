package agentscript_test

import (
	"fmt"

	"github.com/agentscript/agentscript/generable"
)

// An answer shown while the model still writes it, and not read further than it has to be.
func Example_stream() {
	typ, err := generable.TypeFor[Ticket]()
	if err != nil {
		panic(err)
	}
	pieces := []string{"```js", "on\n{\"title\": \"Printer ", "on fire\", \"urgent\": tr", "ue, \"tags\": [", "\"hardware\"]}"}

	stream := generable.NewStream(typ, generable.StreamOptions{
		On: func(e *generable.StreamEvent) {
			if e.Kind == generable.StreamText {
				fmt.Printf("%s += %q\n", e.Path(), e.Text)
			}
		},
		Stop: func(e *generable.StreamEvent) bool { return e.Path() == ".urgent" },
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
