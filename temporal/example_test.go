package temporal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/temporal"
	"github.com/agentscript/agentscript/temporal/blob"
)

// Run a worker of a task queue, next to others.
func ExampleNewWorker() {
	models := scripted.Answers(nil)
	serve := func(c client.Client) error {
		engine := agentscript.New(agentscript.WithModels(models))
		w, err := temporal.NewWorker(c, engine, temporal.Options{
			TaskQueue: "agents",
			Blobs:     blob.Dir("/shared/blobs"),
		}, worker.Options{
			TaskQueueActivitiesPerSecond: 28, // of all workers of the queue
		})
		if err != nil {
			return err
		}
		return w.Run(worker.InterruptCh())
	}
	_ = serve // with the client of a server
}

// Start a run on the server with a client, and wait for its end.
func ExampleStore_Start() {
	start := func(ctx context.Context, c client.Client, engine *agentscript.Engine) error {
		runs, err := temporal.NewStore(c, temporal.Options{TaskQueue: "agents", Blobs: blob.Dir("/shared/blobs")})
		if err != nil {
			return err
		}
		module, err := engine.LoadFile(ctx, "flow.star")
		if err != nil {
			return err
		}
		id, err := runs.Start(ctx, module, "main", agentscript.Input("the input"))
		if err != nil {
			return err
		}
		ended, err := runs.Wait(ctx, id)
		if err != nil {
			return err
		}
		fmt.Println(ended.Status, ended.Text)
		return nil
	}
	_ = start // with the client of a server
}

// Workers and stores can be created before there is a server.
func Example() {
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1"})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	o := temporal.Options{Blobs: blob.Dir(filepath.Join(dir, "blobs"))}
	runs, err := temporal.NewStore(c, o)
	if err != nil {
		panic(err)
	}
	_, err = temporal.NewWorker(c, agentscript.New(), o, worker.Options{})
	fmt.Println(err)
	_, err = runs.Bundle(context.Background(), "unknown")
	fmt.Println(err.Error() == store.NoBundle("unknown").Error())
	_, err = temporal.NewStore(c, temporal.Options{})
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// a store of runs needs Options.Blobs
}
