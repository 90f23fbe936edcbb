// Package agentscript embeds the engine for agent flows written in Starlark.
//
// An [Engine] is made once with what the host grants: models, tools, builtins, limits. It
// loads a script into a [Module], whose whole graph is checked before anything runs. A
// module is immutable and has any number of [Run]s at once, to be watched and cancelled.
//
//	eng := agentscript.New(agentscript.WithModels(llm.New()))
//	mod, err := eng.Load(ctx, os.DirFS("flows"), "review.star")
//	decision, err := agentscript.As[Decision](mod.Start(ctx, agentscript.Input(code)).Wait())
//
// The package links no provider, store or exporter: a host links what it names.
package agentscript
