package engine

// CompileNode lowers a node, for the benchmark of building and checking.
func CompileNode(n *Node) { compile(n) }

// Begin returns an effect as a run dispatches it.
func Begin(e Effect) *Effect { return (&inFlight{effect: e}).begin() }
