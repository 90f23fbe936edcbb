// Package agentscript embeds the engine for agent flows written in Starlark.
//
// An [Engine] loads a script into a checked [Module] that serves many [Run]s.
//
//	eng := agentscript.New(agentscript.WithModels(llm.New()))
//	mod, err := eng.Load(ctx, os.DirFS("flows"), "review.star")
//	decision, err := agentscript.As[Decision](mod.Start(ctx, agentscript.Input(code)).Wait())
//
// The package links no provider, store or exporter: a host imports what it uses.
package agentscript
