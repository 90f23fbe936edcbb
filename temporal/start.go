package temporal

import (
	"context"
	"encoding/json"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/temporal/internal/record"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// Start begins a run of a node or function of a module, and returns its id. It takes the options of
// [agentscript.Module.Start] that define what the run begins with: its input, arguments, id, seed and settings.
// Everything else is up to the worker.
func (s *Store) Start(ctx context.Context, m *agentscript.Module, name string, opts ...agentscript.RunOption) (string, error) {
	h, err := m.Head(ctx, name, opts...)
	if err != nil {
		return "", err
	}
	return h.ID, s.start(ctx, h, nil)
}

// Fork begins a run that takes the outcome of every effect that another run recorded under the same id, and carries out
// the rest. The other run may be in any store: in this one, or in that of a single machine. See [agentscript.ForkRun].
func (s *Store) Fork(ctx context.Context, from engine.Store, of string, m *agentscript.Module, name string, opts ...agentscript.RunOption) (string, error) {
	h, err := m.Head(ctx, name, append(opts[:len(opts):len(opts)], agentscript.StoreRun(from), agentscript.ForkRun(of))...)
	if err != nil {
		return "", err
	}
	info, err := from.Run(ctx, of)
	if err != nil {
		return "", err
	}
	parent := store.Whole{Head: info.RunHead}
	err = from.Steps(ctx, of, 0, func(step engine.Step) error {
		parent.Steps = append(parent.Steps, step)
		h.ParentSeq = max(h.ParentSeq, step.Seq)
		return nil
	})
	if err != nil {
		return "", err
	}
	return h.ID, s.start(ctx, h, &parent)
}

// start begins a run with its head and, for a fork, the run that it forks.
func (s *Store) start(ctx context.Context, h runfile.Head, parent *store.Whole) error {
	files, err := json.Marshal(h.Files)
	if err != nil {
		return err
	}
	in := Input{Limits: s.opts.limits(), Pin: s.opts.Pin, Listed: s.opts.Listed, Find: s.opts.FindWorker}
	if in.Files, err = s.vault.Put(ctx, bundleKey(h.Bundle), files); err != nil {
		return err
	}
	if parent != nil {
		sealed, err := s.sealed(ctx, *parent)
		if err != nil {
			return err
		}
		in.Parent = []vault.Sealed{sealed}
	}
	first, err := s.sealed(ctx, store.Whole{Head: h.RunHead})
	if err != nil {
		return err
	}
	in.Run = []vault.Sealed{first}
	_, err = s.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: h.ID, TaskQueue: s.opts.TaskQueue, WorkflowTaskTimeout: taskTime(in),
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		TypedSearchAttributes:                    s.opts.searchAttributes(h.RunHead),
		Memo:                                     map[string]any{memoKey: startMemo{Script: h.Script, Bundle: h.Bundle, Entry: h.Entry, ABI: h.ABI, Seed: h.Seed, Parent: h.Parent, Begun: h.Begun}},
	}, Workflow, in)
	if _, there := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); there {
		return store.Exists(h.ID)
	}
	return err
}

func (s *Store) sealed(ctx context.Context, w store.Whole) (vault.Sealed, error) {
	text, err := record.Encode(w)
	if err != nil {
		return vault.Sealed{}, err
	}
	return s.vault.Seal(ctx, text, false)
}
