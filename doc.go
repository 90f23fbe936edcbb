// Package agentscript embeds the engine for agent flows written in Starlark.
//
// An [Engine] is made once with what the host grants: models, tools, builtins, limits. It
// loads a script into a [Module], whose whole graph is checked before anything runs. A
// module is immutable and runs any number of times at once; each run is a [Run] that can be
// watched, cancelled and waited for.
//
//	eng := agentscript.New(agentscript.WithModels(llm.New()))
//	mod, err := eng.Load(ctx, os.DirFS("flows"), "review.star")
//	run := mod.Start(ctx, agentscript.Input(code))
//	decision, err := agentscript.As[Decision](run.Wait())
//
// The package links no provider, store or exporter: those come in as options from packages
// of their own, so that a host links only what it names.
package agentscript
