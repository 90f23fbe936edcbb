// Package e2e tests the model port and the MCP client against servers that nobody here wrote:
// aimock speaks the wire formats of the providers and keeps a journal of what it was sent,
// Toxiproxy breaks the network between, Ollama runs a real model whose weights are random, and the
// MCP servers and the suite that judges MCP clients are those that everybody uses. xterm.js is the terminal that a run is
// drawn on.
//
// `make e2e` installs them into a cache and runs the tests, which have the build tag e2e; each
// says what it skips and why.
package e2e
