// Package e2e tests the model port and the MCP client against third-party servers: aimock speaks the wire formats of
// the providers and keeps a journal of the requests, Toxiproxy disturbs the network in between, Ollama runs a real
// model with random weights, and the MCP servers and the suite that tests MCP clients are the commonly used ones.
// xterm.js is the terminal on which a run is drawn.
//
// `make e2e` installs them into a cache and runs the tests, which have the build tag e2e; each reports what it skips
// and why.
package e2e
