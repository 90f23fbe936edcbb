package model

import "encoding/json"

// jsonRequest is what people and programs read of a request: types by name, and of a tool
// what the model is told of it. It is for watching, and is not read back.
type jsonRequest struct {
	Model      string      `json:"model,omitempty"`
	System     string      `json:"system,omitempty"`
	Messages   []Message   `json:"messages"`
	Tools      []ToolDef   `json:"tools,omitempty"`
	Choice     *ToolChoice `json:"choice,omitempty"`
	Output     string      `json:"output,omitempty"`
	Structured Structured  `json:"structured,omitempty"`
	Params     *Params     `json:"params,omitempty"`
	Fallbacks  []string    `json:"fallbacks,omitempty"`
}

// MarshalJSON encodes what the model is sent, with the output type by its name.
func (r *Request) MarshalJSON() ([]byte, error) {
	out := jsonRequest{Model: r.Model, System: r.System, Messages: r.Messages, Tools: r.Tools, Fallbacks: r.Fallbacks}
	if r.Output != nil {
		out.Output, out.Structured = r.Output.Type.String(), r.Output.Structured
	}
	if p := r.Params; p.sent() {
		out.Params = &p
	}
	if r.Choice != (ToolChoice{}) {
		out.Choice = &r.Choice
	}
	return json.Marshal(out)
}
