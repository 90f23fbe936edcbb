package engine

import (
	"github.com/agentscript/agentscript/generable"

	"github.com/agentscript/agentscript/internal/text"
)

// withPictures is a request with the pictures that the tools of its last turn gave. Results of tools
// are text for most providers, so that the pictures stand in a message of their own behind them.
func withPictures(req *Request, results []Part) *Request {
	msg := Message{Role: RoleUser}
	for _, p := range results {
		r := p.Result
		pictures := r.takePictures()
		if len(pictures) == 0 {
			continue
		}
		msg.Parts = append(msg.Parts, Part{Kind: PartText, Text: "What " + text.Clip(r.Name, maxToolName) + " gave beside its text:"})
		for i := range pictures {
			msg.Parts = append(msg.Parts, Part{Kind: PartImage, Image: &pictures[i]})
		}
	}
	if msg.Parts == nil {
		return req
	}
	return req.Extend(msg)
}

// picturesIn are the pictures in a value, nil when it holds none.
func picturesIn(v generable.Value) []Image {
	if !holdsPictures(v) {
		return nil
	}
	var images []Image
	withoutPictures(v, &images)
	return images
}
