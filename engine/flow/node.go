// Package flow composes agents and functions into typed flows.
//
// A [Session] makes [Node]s: a step with [Session.Fn], an agent with [Session.Agent], a sequence with
// [Session.Then], and every other composition likewise. A node has an input and an output type and one
// place in the flow. What does not fit is reported where it is composed, as a diagnostic with a position,
// and the node then stands for one whose types fit everywhere, so that one mistake yields one message.
// [Session.Seal] ends composing; from then on any number of runs may share the nodes.
//
// Types that a script leaves open, those of a pick or of a template, are settled by what the node is
// placed behind. [Session.CheckTranscripts] finds transcripts that nobody reads, [Bounds] finds the most that a
// flow may ask of models.
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

// The kinds of nodes. Every kind goes wherever a node goes.
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
	HandoffNode // a branch whose choice is reported
	VerifyNode
	FixNode // the place of what mends failed calls of tools
	BoundedNode
	ApprovalNode // a step that a person has to approve
)

// The words are those of positions and messages.
var nodeWords = [...]string{"agent", "fn", "pick", "template", "pipeline", "parallel", "forum", "loop", "branch", "each", "graph",
	"fallback", "race", "retry", "attempt", "vote", "wrap", "handoff", "verify", "fix", "bounded", "approval"}

// The position of an approval is that of any step: it belongs to ids that runs have recorded.
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
	count   int        // of members, the merge of a par among them
	open    bool       // its types follow what comes before it, which is not known yet
	failed  bool       // a mistake was reported: says nothing more about its types

	endsWrong bool // of a pipeline: its last joint is wrong

	agent    *agent.Spec
	field    string          // of a pick
	question string          // of an approval
	arriving *generable.Type // of a fn that declares no input: the output of what comes before it
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
	merges   bool              // of a par: the last kid makes something of the list
	history  *agent.History    // of the agents inside that have none of their own
	quorum   int               // of a forum: how many participants must agree; 0: a captain decides

	types func(*Session, *Node) bool // settles the types of a structure by those of its kids, and reports whether they go together

	spec node.Spec
}

// Spec returns what the engine runs the node by. Its type is internal to the engine.
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

// Children returns the nodes placed in this one: of a branch the source first, then the handlers; of an
// agent the nodes that are its tools, then those that recover failed calls.
func (n *Node) Children() []*Node { return n.kids }

// Failed reports whether a mistake was already reported for the node.
func (n *Node) Failed() bool { return n.failed }

// Agent returns the specification of an agent, nil for other nodes.
func (n *Node) Agent() *agent.Spec { return n.agent }

// Free reports whether the node has no place in another one.
func (n *Node) Free() bool { return n.place == nil }

// Routes returns the routes of a branch in order, and its otherwise node.
func (n *Node) Routes() ([]Route, *Node) { return n.routes, n.other }

// Edges returns the edges of a graph in order, and the node for what no edge takes. It is nil
// for other nodes.
func (n *Node) Edges() ([]Edge, *Node) {
	if g := n.spec.Graph; g != nil && g.Other >= 0 {
		return n.edges, n.kids[g.Other]
	}
	return n.edges, nil
}

// Carried returns the type of the values that route i of a branch or edge i of a graph takes, nil where
// nothing is left for it.
func (n *Node) Carried(i int) *generable.Type { return n.spec.Sent[i] }

// Merge returns the node that turns the list of a parallel into its output, nil when there is none.
func (n *Node) Merge() *Node {
	if !n.merges {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// branches are the kids of a parallel that are next to each other.
func (n *Node) branches() []*Node {
	if n.merges {
		return n.kids[:len(n.kids)-1]
	}
	return n.kids
}

// Decides returns the node that ends a forum: the captain or, where the participants must agree, the node
// for when they do not. It is nil when there is neither.
func (n *Node) Decides() *Node {
	if n.kind != ForumNode || n.quorum > 0 && n.other == nil {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// Consensus returns how many participants of a forum must agree, 0 where a captain decides.
func (n *Node) Consensus() int { return n.quorum }

// OnError returns what a parallel or an each does with failures.
func (n *Node) OnError() OnError { return n.onError }

// Field returns the field that a pick projects.
func (n *Node) Field() string { return n.field }

// Label returns a name of the node for people: its declared name, the name of the function that a step
// calls, or its kind. Positions hold the declared name alone.
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

// Detail returns what a step does, as a script says it, or the kind of any other node: pick("code"), approval("Ship?").
func (n *Node) Detail() string {
	switch n.kind {
	case PickNode:
		return `pick("` + n.field + `")`
	case ApprovalNode:
		return "approval(" + text.Quote(text.Clip(n.question, 40)) + ")"
	}
	return n.kind.String()
}

// Acts returns the strongest effect class of the functions of a node and of the nodes inside it.
func (n *Node) Acts() (class engine.Class) {
	n.Callbacks(func(f engine.Func) { class = class.Stronger(callback.EffectClass(f)) })
	return class
}

// Arriving returns what reaches a fn without a name that declares no input, nil where that is not known. Nothing
// else can call it.
func (n *Node) Arriving() *generable.Type {
	if n.kind != FnNode || n.name != "" || n.failed {
		return nil
	}
	return n.arriving
}

// Callbacks calls give with each function that the node or a node inside it calls. Of agents these are the
// functions that run instead of a model.
func (n *Node) Callbacks(give func(engine.Func)) {
	if n == nil { // the map of an edge that has none
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

// Prepared is what a model takes part in whose answers were prepared. Each function may be nil.
type Prepared struct {
	// CutOff receives the agents of a branch that a sibling ended: they may not be asked any more. An empty list
	// means any agent.
	CutOff func(agents []string)

	// HasSeed says that random numbers and ids follow from Seed, else from the id of the run. SeedKept is asked before each of
	// them for the seed to go by, and Timed is around what answers [engine.EffectTime] by the scheduler's clock: of
	// one who keeps the seed and the time of a run, or has kept them.
	Seed     uint64
	HasSeed  bool
	SeedKept func(seed uint64) (uint64, error)
	Timed    engine.Middleware

	// StandIn returns what is taken for the result of a tool that is not to be called.
	StandIn func(t *agent.Tool) (v generable.Value, stands bool, err error)

	// Call carries out a permitted call of a tool of the script in a test: by run, or else as the test answers it.
	Call func(at *engine.Frame, t *agent.Tool, args generable.Value, run func() (generable.Value, error)) (generable.Value, error)
}

// RunSpec is all that a run needs besides its scheduler.
type RunSpec struct {
	ID       string            // part of idempotency keys; "" is "run"
	Node     *Node             // what to run, or
	Main     engine.Func       // a function of the script, called with Args
	Input    generable.Value   // of Node; converted to its input type
	Args     []generable.Value // of Main
	Handler  engine.Handler    // runs the effects
	Journal  engine.Journal    // nil: nothing is remembered
	Session  *session.Ref      // that the run takes while it lasts; nil: it is of none
	Keeps    *agent.MemoryBank // a memory that needs a session: without one nothing is called; nil: none does
	Model    string            // of agents that name none, or of all
	Models   map[string]string // by agent name, over all else
	Aliases  map[string]string // names that stand for models, wherever one is named: "fast" for "openai/gpt-5-mini"
	Limits   engine.Limits
	OnBudget engine.OnBudget // asked before a budget ends something; nil: nobody is
	Pricer   engine.Pricer   // of model calls; nil: no price is known, and nothing is bought with a bounded sum
	Listener engine.Listener
	Secrets  func() []string // that the handlers hold by now, and nothing else of the run does; nil: they hold none

	Prepared *Prepared // what was prepared for the run, or kept of another one; nil: nothing

	OnToolError *agent.Recovery  // of tools of agents that have none of their own
	Hooks       []*agent.Hooks   // around the calls of all agents
	Policies    []*policy.Policy // over all calls of tools; a script can only be stricter

	OnUnknown engine.OnUnknown // what is done about effects of which it is unknown whether they were carried out, where their tool does not say
	Parks     bool             // ends with what it waits for, once all of it waits for answers from outside; else it stays until they come
	Sleeps    bool             // its script may sleep
	Virtual   bool             // its scheduler's time is not what bounds it from outside
	Overrides bool             // Model is that of all agents, over what the script says
}

// CheckAliases reports an alias that could be taken for something else, or that stands for no model.
func (s *RunSpec) CheckAliases() *engine.Error {
	if len(s.Aliases) == 0 { // which costs a run nothing
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Aliases)) {
		model := s.Aliases[name]
		_, chained := s.Aliases[model]
		if name == "" || model == "" || chained || strings.ContainsAny(name, "/= ") {
			return engine.Errorf(engine.KindConfig, diag.BadAlias, "%q cannot be an alias for the model %q", name, model).
				WithHelp(`an alias is a name without "/" and "=" that stands for "provider/model", and for no other alias`)
		}
	}
	return nil
}

// Named returns the model that a name stands for: what an alias says, else the name. Requests hold nothing else.
func (s *RunSpec) Named(model string) string {
	if to, ok := s.Aliases[model]; ok {
		return to
	}
	return model
}
