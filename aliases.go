package agentscript

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
)

// What a run reports.

// Event is something that happened in a run: see [engine.Event].
type Event = engine.Event

// EventKind is a set of kinds of events, combined with |.
type EventKind = engine.EventKind

// The kinds of events that a host listens to most; the package engine has all of them.
const (
	EventRun    = engine.EventRun
	EventNode   = engine.EventNode
	EventEffect = engine.EventEffect
	EventToken  = engine.EventToken
	EventTool   = engine.EventTool
	EventBudget = engine.EventBudget
	EventLog    = engine.EventLog
	EventAll    = engine.EventAll
)

// Error is the failure of a run or a call, with its kind, its code and its place in the script.
type Error = engine.Error

// ErrorKind says what kind of failure an [Error] is.
type ErrorKind = engine.ErrKind

// Errors that errors.Is finds in the error of [Run.Wait].
var (
	ErrApproval      = engine.ErrApproval
	ErrAuth          = engine.ErrAuth
	ErrBudget        = engine.ErrBudget
	ErrCancelled     = engine.ErrCancelled
	ErrConfig        = engine.ErrConfig
	ErrContextLength = engine.ErrContextLength
	ErrInput         = engine.ErrInput
	ErrPolicy        = engine.ErrPolicy
	ErrRateLimit     = engine.ErrRateLimit
	ErrRefused       = engine.ErrRefused
	ErrSchema        = engine.ErrSchema
	ErrTimeout       = engine.ErrTimeout
	ErrTool          = engine.ErrTool
)

// What bounds a run.

// Limits bound what a run uses.
type Limits = engine.Limits

// Usage is what a run or a call used: tokens and money.
type Usage = model.Usage

// Pricer knows the price of model calls.
type Pricer = engine.Pricer

// What scripts use.

// HostTool is a tool that is carried out by Go code.
type HostTool = agent.HostTool

// ToolCallInfo says which call a tool serves.
type ToolCallInfo = agent.ToolCallInfo

// Class says what may be done again when the result of an effect was lost.
type Class = engine.Class

// The classes of effects.
const (
	ClassRead       = engine.ClassRead
	ClassIdempotent = engine.ClassIdempotent
	ClassOnce       = engine.ClassOnce
)

// Branch is the part of a run from which a callback is called.
type Branch = engine.Branch

// Hooks are functions around what agents do.
type Hooks = agent.Hooks

// Recovery says what is done about calls of tools that fail.
type Recovery = agent.Recovery

// Who decides.

// Policy says which tool calls may be made, and who is asked.
type Policy = policy.Policy

// Rules are the patterns of a [Policy].
type Rules = policy.Rules

// ApprovalRequest is a question that a person decides.
type ApprovalRequest = engine.ApprovalRequest

// Decision is the answer to an [ApprovalRequest].
type Decision = engine.Decision

// Grants decide what scripts may touch of the world, and carry it out.
type Grants = capability.Grants

// How a run reaches the world.

// Handler carries out effects: model calls, calls of tools, requests, commands.
type Handler = engine.Handler

// Middleware wraps a [Handler].
type Middleware = engine.Middleware

// Effect is a call that leaves the run.
type Effect = engine.Effect

// EffectKind is the kind of an [Effect].
type EffectKind = engine.EffectKind

// The kinds of effects that a host handles most; the package engine has all of them.
const (
	EffectModel    = engine.EffectModel
	EffectTool     = engine.EffectTool
	EffectApproval = engine.EffectApproval
	EffectMCP      = engine.EffectMCP
	EffectTime     = engine.EffectTime
)

// Outcome is the result of an effect, recorded verbatim.
type Outcome = engine.Outcome

// Sink receives the tokens of an answer while it is streamed.
type Sink = engine.Sink

// Journal records the outcomes of effects.
type Journal = engine.Journal

// SessionStore keeps sessions from one run to the next.
type SessionStore = engine.SessionStore

// AtMost returns the cap of n, for [Limits].
func AtMost(n int64) engine.Cap { return engine.AtMost(n) }

// NewPolicy reads rules and returns the policy. Messages about its decisions contain its name.
func NewPolicy(name string, rules Rules) (*Policy, error) { return policy.New(name, rules) }
