package mcp

import (
	"time"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// WithBounds sets how many bytes a message of a server may have, and how many it may send unasked.
func WithBounds(message, unasked int64) Option {
	return func(c *config) { c.bounds = transport.Bounds{Message: message, Unasked: unasked} }
}

// WithPatience sets how long a process may take to exit by itself, and then after a signal.
func WithPatience(d time.Duration) Option { return func(c *config) { c.patience = d } }
