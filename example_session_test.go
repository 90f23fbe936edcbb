package agentscript_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// A session holds a conversation from one run to the next.
func ExampleSession() {
	dir, err := os.MkdirTemp("", "agentscript")
	if err == nil {
		err = converse(context.Background(), dir)
	}
	if err != nil {
		fmt.Println(err)
	}
	_ = os.RemoveAll(dir) // of an example
	// Output:
	// Hello Ada!
	// You are Ada.
}

func converse(ctx context.Context, dir string) error {
	script := fstest.MapFS{"chat.star": {Data: []byte(`main = agent(name = "chat", prompt = "Be brief.", history = "shared")`)}}
	eng := agentscript.New(agentscript.WithModels(scripted.Answers(map[string][]string{"chat": {"Hello Ada!", "You are Ada."}})))
	mod, err := eng.Load(ctx, script, "chat.star")
	if err != nil {
		return err
	}

	sessions, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db")) // or &session.Memory{}
	if err != nil {
		return err
	}
	defer sessions.Close() // what was saved is on disk
	for _, turn := range []string{"I am Ada.", "Who am I?"} {
		result, err := mod.Start(ctx, agentscript.InputText(turn), agentscript.Session(sessions, "ada")).Wait()
		if err != nil {
			return err
		}
		fmt.Println(result.Text())
	}
	return nil
}
