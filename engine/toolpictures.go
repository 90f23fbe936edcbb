package engine

import (
	"sync"

	"github.com/agentscript/agentscript/generable"
)

// pictures are what the tools of one turn gave beside text, by call.
type pictures struct {
	mu sync.Mutex
	by [][]Image
}

func (p *pictures) of(i, n int, given []Image) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = make([][]Image, n)
	}
	p.by[i] = given
}

// shown is a request with the pictures that the tools of its last turn gave. Results of tools are
// text for most providers, so that the pictures stand in a message of their own behind them.
func (p *pictures) shown(req *Request, calls []*ToolCall) *Request {
	if p.by == nil {
		return req
	}
	msg := Message{Role: RoleUser}
	for i, images := range p.by {
		if len(images) == 0 {
			continue
		}
		msg.Parts = append(msg.Parts, Part{Kind: PartText, Text: "What " + clip(calls[i].Name, maxToolName) + " gave beside its text:"})
		for j := range images {
			msg.Parts = append(msg.Parts, Part{Kind: PartImage, Image: &images[j]})
		}
	}
	p.by = nil
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
