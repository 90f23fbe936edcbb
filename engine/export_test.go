package engine

// CompileNode lowers a node, for the benchmark of building and checking.
func CompileNode(n *Node) { compile(n) }
