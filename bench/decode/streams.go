package main

import (
	"errors"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// streamed is the variant of documents that arrive in tokens of four bytes.
const (
	streamed  = "stream"
	tokenSize = 4
	minText   = 32
)

const ownEvents = "agentscript, events"

// streams lists the engines that decode a text while it arrives. The last value is the result.
func streams(t *generable.Type) []*engine {
	return []*engine{
		{name: "agentscript, nobody listens", own: true, decode: func(d *document) (any, error) {
			return feed(lenient.NewStream(t, lenient.StreamOptions{}), d.text, nil)
		}},
		{name: ownEvents, own: true, decode: listened(t, false)},
		{name: "agentscript, events, a snapshot for each token", own: true, decode: listened(t, true)},
		{name: "npm partial-json, all again for each token", node: true},
	}
}

func listened(t *generable.Type, snapshots bool) func(d *document) (any, error) {
	return func(d *document) (any, error) {
		events := 0
		s := lenient.NewStream(t, lenient.StreamOptions{MinText: minText, On: func(*lenient.StreamEvent) { events++ }})
		look := func() {}
		if snapshots {
			look = func() { s.Snapshot() }
		}
		v, err := feed(s, d.text, look)
		if err == nil && events < d.whole {
			err = errors.New("fewer events than items")
		}
		return v, err
	}
}

func feed(s *lenient.Stream, text string, look func()) (any, error) {
	for i := 0; i < len(text); i += tokenSize {
		s.Feed(text[i:min(i+tokenSize, len(text))])
		if look != nil {
			look()
		}
	}
	return ownResult(s.Close())
}
