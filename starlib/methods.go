package starlib

// nodeMethodRows are the methods of nodes: those of the functions that take a node first.
func nodeMethodRows() []Builtin {
	method := func(b Builtin) Builtin {
		b.Of, b.Group, b.Returns, b.Effect = "node", GroupCompose, "node", Compose
		return b
	}
	next := Param{Name: "next", Kind: NodeKind, Shape: Positional, Doc: "the node that follows"}
	return []Builtin{
		method(Builtin{Name: "then", Params: []Param{next}, Func: thenMethod, Doc: "a.then(b) is then(a, b)."}),
		method(Builtin{Name: "loop", Params: loopParams, Func: loopFunc, Doc: "a.loop(next) is loop(a, next)."}),
		method(Builtin{Name: "branch", Params: branchParams, Func: branchFunc, Doc: "a.branch({...}) is branch(a, {...})."}),
		method(Builtin{Name: "each", Params: []Param{{Name: "limit", Kind: boundKind, Shape: KeywordOnly, Default: "16", Doc: "how many items at once"}, onNodeError},
			Func: eachFunc, Doc: "a.each() is each(a)."}),
	}
}
