package mcp

import (
	"time"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// WithBounds sets how many bytes a message of a server may have, and what it sends that nobody asked
// for.
func WithBounds(message, unasked int64) Option {
	return func(c *config) { c.bounds = transport.Bounds{Message: message, Unasked: unasked} }
}

// WithPatience sets how long a process has to end by itself, and then by a signal.
func WithPatience(d time.Duration) Option { return func(c *config) { c.patience = d } }
