// Package flow composes agents and functions into typed flows.
//
// A [Session] makes [Node]s: a step with [Session.Fn], an agent with [Session.Agent], a sequence with [Session.Then],
// and so on for every other composition. A node has an input type, an output type and one place in the flow. A node
// that does not fit is reported where it is composed, as a diagnostic with a position. From then on its types fit
// everywhere, so that one mistake yields one message. [Session.Seal] ends composing; after that any number of runs may
// share the nodes.
//
// Types that a script leaves open, such as those of a pick or a template, are settled by the node before them.
// [Session.CheckTranscripts] finds transcripts that nobody reads. [Bounds] finds the most that a flow may ask of
// models.
package flow

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// NodeKind is the kind of a node: an agent, a step, or how it composes others.
type NodeKind uint8

// The kinds of nodes. A node of any kind can be used wherever a node is expected.
const (
	AgentNode NodeKind = iota
	FnNode
	PickNode
	TemplateNode
	PipelineNode // then
	ParallelNode // par
	ForumNode
	LoopNode
	BranchNode
	EachNode
	GraphNode
	FallbackNode
	RaceNode
	RetryNode
	AttemptNode
	VoteNode
	WrapNode
	HandoffNode // a branch that reports its choice
	VerifyNode
	FixNode // holds the fixer of failed tool calls
	BoundedNode
	ApprovalNode // a step that needs a person's approval
)

// The words used in messages.
var nodeWords = [...]string{"agent", "fn", "pick", "template", "pipeline", "parallel", "forum", "loop", "branch", "each", "graph",
	"fallback", "race", "retry", "attempt", "vote", "wrap", "handoff", "verify", "fix", "bounded", "approval"}

// The segments of positions. An approval has that of a step, since runs have recorded ids that contain it.
var nodeSegments = [...]string{"agent", "fn", "pick", "template", "then", "par", "forum", "loop", "branch", "each", "graph",
	"fallback", "race", "retry", "attempt", "vote", "wrap", "handoff", "verify", "fix", "bounded", "fn"}

// String returns the word used in messages: "pipeline", "parallel", "agent".
func (k NodeKind) String() string { return nodeWords[k] }

// Segment returns the word used in positions: "then", "par", "agent".
func (k NodeKind) Segment() string { return nodeSegments[k] }

// Node is a typed step or composition in build form. A [Session] makes nodes; they do not
// change after the session is sealed, and are then safe for any number of runs.
type Node struct {
	kind    NodeKind
	name    string
	in      *generable.Type
	out     *generable.Type
	site    Site // where it was made
	kids    []*Node
	session *Session
	place   *placement // nil while free
	mark    *placement // the claim that looked at the node last
	depth   int        // of nodes inside each other
	flat    bool       // made by an operator that has no options: the next one may open it
	lead    bool       // the first kid was opened by its name: its members are members of this node
	count   int        // the number of members, including the merge of a par
	open    bool       // its types follow what comes before it, which is not known yet
	failed  bool       // a mistake was reported: nothing more is reported about its types

	endsWrong bool // of a pipeline: its last joint is wrong

	agent    *agent.Spec
	field    string          // of a pick
	question string          // of an approval
	arriving *generable.Type // of a fn that declares no input: the output of the node before it
	declared *generable.Type // of par and branch: the output that the script declares for a branch
	loop     *LoopOptions
	routes   []Route // of a branch; kids are the source and then the handlers
	other    *Node   // of a branch: the route for the rest
	edges    []Edge  // of a graph
	noMatch  NoMatch // of a graph
	retry    *RetryOptions
	vote     *VoteOptions
	bound    *engine.Limits    // of a bounded node
	onError  OnError           // of par and each
	gives    []*generable.Type // of a flat par: its branches' outputs, each type once
	merges   bool              // of a par: the last kid turns the list into the output
	history  *agent.History    // of the agents inside without a history of their own
	quorum   int               // of a forum: how many participants must agree; 0: a captain decides

	types func(*Session, *Node) bool // settles the types of a structure by those of its kids, and reports whether they fit

	spec node.Spec
}

// Spec returns the specification by which the engine runs the node. Its type is internal to the engine.
func (n *Node) Spec() *node.Spec { return &n.spec }

// Site returns where the node was made.
func (n *Node) Site() Site { return n.site }

// Loop returns the options of a loop, nil for other nodes.
func (n *Node) Loop() *LoopOptions { return n.loop }

// Retry returns the options of a retry, nil for other nodes.
func (n *Node) Retry() *RetryOptions { return n.retry }

// Vote returns the options of a vote, nil for other nodes.
func (n *Node) Vote() *VoteOptions { return n.vote }

// Kind returns the kind of the node.
func (n *Node) Kind() NodeKind { return n.kind }

// Name returns the declared name, or "".
func (n *Node) Name() string { return n.name }

// In returns the type of the input.
func (n *Node) In() *generable.Type { return n.in }

// Out returns the type of the output.
func (n *Node) Out() *generable.Type { return n.out }

// Pos returns the position where the node was made.
func (n *Node) Pos() diag.Pos { return n.site.Span.Pos }

// Children returns the nodes placed in this one. For a branch these are the source and then the handlers; for an agent,
// its tool nodes and then the nodes that recover failed calls.
func (n *Node) Children() []*Node { return n.kids }

// Failed reports whether a mistake was already reported for the node.
func (n *Node) Failed() bool { return n.failed }

// Agent returns the specification of an agent, nil for other nodes.
func (n *Node) Agent() *agent.Spec { return n.agent }

// Free reports whether the node has no place in another node.
func (n *Node) Free() bool { return n.place == nil }

// Routes returns the routes of a branch in order, and its otherwise node.
func (n *Node) Routes() ([]Route, *Node) { return n.routes, n.other }

// Edges returns the edges of a graph in order, and the node for values that no edge takes. It returns nil for other
// nodes.
func (n *Node) Edges() ([]Edge, *Node) {
	if g := n.spec.Graph; g != nil && g.Other >= 0 {
		return n.edges, n.kids[g.Other]
	}
	return n.edges, nil
}

// Carried returns the type of the values that route i of a branch or edge i of a graph takes, nil if no values are left
// for it.
func (n *Node) Carried(i int) *generable.Type { return n.spec.Sent[i] }

// Merge returns the node that turns the list of a parallel into its output, nil without one.
func (n *Node) Merge() *Node {
	if !n.merges {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// branches returns the kids of a parallel that run concurrently.
func (n *Node) branches() []*Node {
	if n.merges {
		return n.kids[:len(n.kids)-1]
	}
	return n.kids
}

// Decides returns the node that ends a forum: the captain or, with a consensus, the node that decides when the
// participants do not agree. It returns nil without either.
func (n *Node) Decides() *Node {
	if n.kind != ForumNode || n.quorum > 0 && n.other == nil {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// Consensus returns how many participants of a forum must agree, 0 if a captain decides.
func (n *Node) Consensus() int { return n.quorum }

// OnError returns how a parallel or an each handles failures.
func (n *Node) OnError() OnError { return n.onError }

// Field returns the field that a pick projects.
func (n *Node) Field() string { return n.field }

// Label returns a name of the node for people: its declared name, else the name of the function that a step calls, else
// its kind. Positions contain only declared names.
func (n *Node) Label() string {
	if n.name != "" {
		return n.name
	}
	if n.kind == FnNode && n.spec.Func != nil {
		if info := n.spec.Func.Info(); info.Pos.IsValid() && info.Name != "lambda" {
			return info.Name
		}
	}
	return n.Detail()
}

// Question returns what an approval asks a person, "" for other nodes.
func (n *Node) Question() string { return n.question }

// Detail returns what a step does in the script's syntax, pick("code") or approval("Ship?"), or the kind of any other
// node.
func (n *Node) Detail() string {
	switch n.kind {
	case PickNode:
		return `pick("` + n.field + `")`
	case ApprovalNode:
		return "approval(" + text.Quote(text.Clip(n.question, 40)) + ")"
	}
	return n.kind.String()
}

// Acts returns the strongest effect class of the functions in a node and the nodes inside it.
func (n *Node) Acts() (class engine.Class) {
	n.Callbacks(func(f engine.Func) { class = class.Stronger(callback.EffectClass(f)) })
	return class
}

// Arriving returns the input type of a fn that has no name and declares no input, nil if it is not known. Nothing else
// can call such a fn.
func (n *Node) Arriving() *generable.Type {
	if n.kind != FnNode || n.name != "" || n.failed {
		return nil
	}
	return n.arriving
}

// Callbacks calls give with each function that the node or a node inside it calls. For agents these are the functions
// that run instead of a model.
func (n *Node) Callbacks(give func(engine.Func)) {
	if n == nil { // an edge without a map
		return
	}
	each := func(fs ...engine.Func) {
		for _, f := range fs {
			if f != nil {
				give(f)
			}
		}
	}
	each(n.spec.Func)
	if a := n.agent; a != nil {
		each(a.Run)
		for _, sk := range a.Skills {
			each(sk.Run)
		}
	}
	if l := n.loop; l != nil {
		each(l.Next, l.UntilFunc)
	}
	for i := range n.routes {
		each(n.routes[i].When)
	}
	for i := range n.edges {
		each(n.edges[i].Guard.When)
		n.edges[i].Map.Callbacks(give)
	}
	if r := n.retry; r != nil {
		each(r.UntilFunc, r.Feedback)
	}
	if v := n.vote; v != nil {
		each(v.Key)
	}
	for _, kid := range n.kids {
		kid.Callbacks(give)
	}
}

// Bound returns the limits of a bounded node, nil for other nodes.
func (n *Node) Bound() *engine.Limits { return n.bound }

// Prepared holds what was prepared for a run whose model answers are prepared. Each function may be nil.
type Prepared struct {
	// CutOff receives the agents of a branch that a sibling ended: they may receive no more calls. An empty list means
	// any agent.
	CutOff func(agents []string)

	// HasSeed says that random numbers and ids follow from Seed, else from the id of the run. SeedKept is called with
	// that seed before each of them and returns the seed to use. Timed wraps the handler that answers
	// [engine.EffectTime] by the scheduler's clock. Both serve a caller that records, or has recorded, the seed and the
	// time of a run.
	Seed     uint64
	HasSeed  bool
	SeedKept func(seed uint64) (uint64, error)
	Timed    engine.Middleware

	// StandIn returns the stand-in result of a tool that must not be called.
	StandIn func(t *agent.Tool) (v generable.Value, stands bool, err error)

	// Call executes a permitted call of a script's tool in a test: it calls run, or answers as the test says.
	Call func(at *engine.Frame, t *agent.Tool, args generable.Value, run func() (generable.Value, error)) (generable.Value, error)
}

// RunSpec is all that a run needs in addition to its scheduler.
type RunSpec struct {
	ID       string            // part of idempotency keys; "" is "run"
	Node     *Node             // what to run, or
	Main     engine.Func       // a function of the script, called with Args
	Input    generable.Value   // of Node; converted to its input type
	Args     []generable.Value // of Main
	Handler  engine.Handler    // runs the effects
	Journal  engine.Journal    // nil: nothing is remembered
	Session  *session.Ref      // the session that the run holds while it lasts; nil: none
	Keeps    *agent.MemoryBank // a memory that needs a session: without one nothing is called; nil: no memory needs one
	Model    string            // of agents that name none, or, with Overrides, of all
	Models   map[string]string // by agent name, takes precedence over everything else
	Aliases  map[string]string // names that stand for models wherever one is named: "fast" for "openai/gpt-5-mini"
	Limits   engine.Limits
	OnBudget engine.OnBudget // asked before a budget ends something; nil: nobody is asked
	Pricer   engine.Pricer   // of model calls; nil: no price is known, and nothing is bought with a limited sum
	Listener engine.Listener
	Secrets  func() []string // the secrets that only the handlers hold by now; nil: they hold none

	Prepared *Prepared // prepared for the run, or recorded from another one; nil: nothing

	OnToolError *agent.Recovery  // of tools whose agent has none
	Hooks       []*agent.Hooks   // around the calls of all agents
	Policies    []*policy.Policy // over all calls of tools; a script can only be stricter

	OnUnknown engine.OnUnknown // what to do about effects that may or may not have been executed, where their tool does not say
	Parks     bool             // the run ends and returns what it waits for, once it waits only for answers from outside; else it stays until they arrive
	Sleeps    bool             // its script may sleep
	Virtual   bool             // its scheduler's clock is not the one that bounds the run from outside
	Overrides bool             // Model applies to all agents and takes precedence over the script
}

// CheckAliases reports an alias that could be mistaken for something else, or that names no model.
func (s *RunSpec) CheckAliases() *engine.Error {
	if len(s.Aliases) == 0 { // costs a run nothing
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Aliases)) {
		model := s.Aliases[name]
		_, chained := s.Aliases[model]
		if name == "" || model == "" || chained || strings.ContainsAny(name, "/= ") {
			return engine.Errorf(engine.KindConfig, diag.BadAlias, "%q cannot be an alias for the model %q", name, model).
				WithHelp(`an alias is a name without "/" and "=" that means "provider/model", not another alias`)
		}
	}
	return nil
}

// Named returns the model that a name stands for: its alias's target, else the name itself. Requests contain only
// these.
func (s *RunSpec) Named(model string) string {
	if to, ok := s.Aliases[model]; ok {
		return to
	}
	return model
}
