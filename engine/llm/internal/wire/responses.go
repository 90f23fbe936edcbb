package wire

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/agentscript/agentscript/engine/model"
)

// Responses is the form of OpenAI's Responses API: a list of items, of which messages, reasoning and function calls are
// read. Items of the provider's own tools are skipped.
type Responses struct{}

type responsesAnswer struct {
	ID         loose           `json:"id"`
	Model      loose           `json:"model"`
	Status     loose           `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete *struct {
		Reason loose `json:"reason"`
	} `json:"incomplete_details"`
	Output []responsesItem `json:"output"`
	Usage  *struct {
		In      count      `json:"input_tokens"`
		Out     count      `json:"output_tokens"`
		Total   count      `json:"total_tokens"`
		Cost    cost       `json:"cost"` // OpenRouter's: US dollars
		Details inDetails  `json:"input_tokens_details"`
		Spent   outDetails `json:"output_tokens_details"`
	} `json:"usage"`
}

type responsesItem struct {
	Type    string          `json:"type"`
	Role    loose           `json:"role"`
	ID      loose           `json:"id"`
	CallID  loose           `json:"call_id"`
	Name    loose           `json:"name"`
	Args    json.RawMessage `json:"arguments"`
	Input   json.RawMessage `json:"input"`  // of a tool that takes text
	Result  loose           `json:"result"` // of a generated picture, in base64
	Format  loose           `json:"output_format"`
	Content []responsesText `json:"content"`
	Summary []responsesText `json:"summary"`
}

// aloudItem stands for the index of spoken output, whose events have none.
const aloudItem = -1

// responsesState holds the items of an answer that have begun to arrive, and their parts.
type responsesState struct {
	seen   map[int]bool
	blocks map[string]*block
	full   map[int][]*block // the blocks of full thoughts
}

// summed drops the full thoughts of an item with a summary: it says the same.
func (s *responsesState) summed(index int) {
	for _, b := range s.full[index] {
		b.text.Reset()
	}
	delete(s.full, index)
}

type responsesText struct {
	Type        string          `json:"type"`
	Text        loose           `json:"text"`
	Refusal     loose           `json:"refusal"`
	Annotations json.RawMessage `json:"annotations"`
}

type responsesEvent struct {
	Type       string           `json:"type"`
	Response   *responsesAnswer `json:"response"`
	Item       *responsesItem   `json:"item"`
	Output     int              `json:"output_index"`
	Content    int              `json:"content_index"`
	Summary    int              `json:"summary_index"`
	Delta      loose            `json:"delta"`
	Args       json.RawMessage  `json:"arguments"`
	Annotation json.RawMessage  `json:"annotation"`
}

func (*Responses) document(data []byte, a *answer) error {
	var r responsesAnswer
	if err := json.Unmarshal(data, &r); err != nil {
		return wrongForm("response", err)
	}
	for i := range r.Output {
		a.item(i, &r.Output[i])
	}
	a.responsesEnd(&r)
	return nil
}

func (*Responses) event(data []byte, a *answer) error {
	var e responsesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return wrongForm("response event", err)
	}
	switch e.Type {
	case "response.output_text.delta":
		a.grow(a.itemBlock(e.Output, model.PartText, e.Content), string(e.Delta))
	case "response.output_text.annotation.added":
		a.cite(e.Annotation, a.itemBlock(e.Output, model.PartText, e.Content))
	case "response.reasoning_summary_text.delta":
		a.grow(a.itemBlock(e.Output, model.PartReasoning, e.Summary), string(e.Delta))
	case "response.reasoning_text.delta":
		a.grow(a.itemFull(e.Output, e.Content), string(e.Delta))
	case "response.audio.delta": // of an answer that has only one
		a.itemSeen(aloudItem)
		a.itemBlock(aloudItem, model.PartAudio, 0).speak(a.aloud, string(e.Delta))
	case "response.audio.transcript.delta":
		a.grow(a.itemBlock(aloudItem, model.PartText, 0), string(e.Delta))
	case "response.refusal.delta":
		a.itemSeen(e.Output)
		a.refusal.WriteString(string(e.Delta))
	case "response.output_item.added":
		if e.Item != nil && e.Item.calls() {
			a.itemCall(e.Output, e.Item, "")
		}
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		a.itemCall(e.Output, &responsesItem{}, string(e.Delta))
	case "response.output_item.done":
		if e.Item != nil {
			a.item(e.Output, e.Item)
		}
	case "response.created", "response.in_progress":
		if r := e.Response; r != nil {
			a.identify(r.ID, r.Model)
		}
	case "response.completed", "response.incomplete", "response.failed":
		if r := e.Response; r != nil {
			if a.empty() { // a server that sends no pieces
				for i := range r.Output {
					a.item(i, &r.Output[i])
				}
			}
			a.responsesEnd(r)
		}
		a.done()
	case "error":
		a.failure = a.inAnswer(data)
	}
	return nil
}

// calls reports whether an item is a call that the caller must run.
func (it *responsesItem) calls() bool {
	return it.Type == "function_call" || it.Type == "custom_tool_call"
}

// item takes a whole item, except for pieces that arrived before.
func (a *answer) item(index int, it *responsesItem) {
	if it.calls() {
		args := it.Args
		if it.Type == "custom_tool_call" {
			args = it.Input
		}
		if c := a.byIndex[index]; c == nil || c.args.Len() == 0 {
			a.itemCall(index, it, arguments(args))
		}
		return
	}
	if len(it.Summary) > 0 {
		a.items.summed(index)
	}
	if it.Type == "image_generation_call" && it.Result != "" && !a.items.seen[index] {
		a.itemSeen(index)
		a.picture("image/"+string(cmp.Or(it.Format, "png")), string(it.Result))
		return
	}
	if a.items.seen[index] && it.Type == "message" {
		for i, t := range it.Content {
			a.cite(t.Annotations, a.itemBlock(index, model.PartText, i)) // citations that arrived in pieces are kept once
		}
	}
	if a.items.seen[index] || it.Type != "message" && it.Type != "reasoning" || it.Role != "" && it.Role != "assistant" {
		return
	}
	a.itemSeen(index)
	kind := model.PartText
	if it.Type == "reasoning" {
		kind = model.PartReasoning
	}
	for i, t := range it.Summary {
		a.grow(a.itemBlock(index, model.PartReasoning, i), string(t.Text))
	}
	if kind == model.PartReasoning && len(it.Summary) > 0 {
		return // the full text next to its summary says the same at length
	}
	for i, t := range it.Content {
		a.refusal.WriteString(string(t.Refusal))
		b := a.itemBlock(index, kind, i)
		a.grow(b, string(t.Text))
		a.cite(t.Annotations, b)
	}
}

func (a *answer) itemCall(index int, it *responsesItem, args string) {
	known := a.byIndex[index] != nil
	name := string(it.Name)
	if known {
		name = ""
	}
	a.addCall(&index, string(it.CallID), name, args)
	if !known {
		a.addCallBlock(a.byIndex[index])
	}
}

func (a *answer) itemSeen(index int) {
	if a.items.seen == nil {
		a.items = responsesState{map[int]bool{}, map[string]*block{}, map[int][]*block{}}
	}
	a.items.seen[index] = true
}

// itemBlock returns the block for a part of an item.
func (a *answer) itemBlock(index int, kind model.PartKind, part int) *block {
	a.itemSeen(index)
	key := fmt.Sprint(index, kind, part)
	if b := a.items.blocks[key]; b != nil {
		return b
	}
	b := a.addBlock(kind)
	a.items.blocks[key] = b
	return b
}

// itemFull returns the block for a full thought of an item.
func (a *answer) itemFull(index, part int) *block {
	known := len(a.items.blocks)
	b := a.itemBlock(index, model.PartReasoning, -1-part) // separate from the parts of its summary
	if len(a.items.blocks) > known {
		a.items.full[index] = append(a.items.full[index], b)
	}
	return b
}

func (a *answer) responsesEnd(r *responsesAnswer) {
	a.identify(r.ID, r.Model)
	if u := r.Usage; u != nil {
		a.usage = (&completionUsage{In: &u.In, Out: u.Out, Total: u.Total, Details: u.Details, Spent: u.Spent, Cost: u.Cost}).normal()
	}
	finish := string(r.Status)
	if r.Incomplete != nil {
		finish = cmp.Or(string(r.Incomplete.Reason), finish)
	}
	a.end(finish)
	if !empty(r.Error) {
		a.failedBy(r.Error)
	} else if r.Status == "failed" {
		a.brokeOff("failed", "")
	}
}
