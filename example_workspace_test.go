package agentscript_test

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/scripted"
)

// grow adds two texts to a script.
func grow(ctx context.Context, eng *agentscript.Engine) error {
	w, err := eng.Workspace("flows/session.star") // texts load and read what lies beside that path
	if err != nil {
		return err
	}
	if _, err = w.Eval(ctx, "critic = agent(prompt = \"Judge the text.\")"); err != nil {
		return err
	}
	result, err := w.Eval(ctx, `critic("It is done.")`) // with run options: models, limits, events
	if err == nil {
		fmt.Println(result.Text())
	}
	return err
}

// A host adds texts to a script while it runs, as a prompt does.
func ExampleEngine_Workspace() {
	good := "good"
	models := scripted.New([]scripted.Row{{Agent: "critic", Text: &good}})
	if err := grow(context.Background(), agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x"))); err != nil {
		fmt.Println(err)
	}
	// Output: good
}
