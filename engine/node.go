package engine

import (
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// NodeKind is what a node is made of.
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
	HandoffNode // a branch whose choice is told
	VerifyNode
	FixNode // the place of what mends failed calls of tools
	BoundedNode
)

// The words are those of positions and messages.
var nodeWords = [...]string{"agent", "fn", "pick", "template", "pipeline", "parallel", "forum", "loop", "branch", "each", "graph",
	"fallback", "race", "retry", "attempt", "vote", "wrap", "handoff", "verify", "fix", "bounded"}

var nodeSegments = [...]string{"agent", "fn", "pick", "template", "then", "par", "forum", "loop", "branch", "each", "graph",
	"fallback", "race", "retry", "attempt", "vote", "wrap", "handoff", "verify", "fix", "bounded"}

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
	open    bool       // its types follow what comes before it, which is not known yet
	failed  bool       // a mistake was reported: says nothing more about its types

	endsWrong bool // of a pipeline: its last joint is wrong

	agent    *AgentSpec
	field    string          // of a pick
	declared *generable.Type // of par and branch: what the script says that a branch gives
	loop     *LoopOptions
	routes   []Route // of a branch; kids are the source and then the handlers
	other    *Node   // of a branch: the route for the rest
	edges    []Edge  // of a graph
	noMatch  NoMatch // of a graph
	retry    *RetryOptions
	vote     *VoteOptions
	bound    *Limits           // of a bounded node
	onError  OnError           // of par and each
	gives    []*generable.Type // of a flat par: what its branches give, each type once
	merges   bool              // of a par: the last kid makes something of the list
	history  *History          // of the agents inside that have none of their own
	quorum   int               // of a forum: how many participants must agree; 0: a captain decides

	spec NodeSpec
}

// Spec returns what the engine runs the node by.
func (n *Node) Spec() *NodeSpec { return &n.spec }

// Site returns where the node was made.
func (n *Node) Site() Site { return n.site }

// Loop returns the options of a loop, nil for other nodes.
func (n *Node) Loop() *LoopOptions { return n.loop }

// Retry returns the options of a retry, nil for other nodes.
func (n *Node) Retry() *RetryOptions { return n.retry }

// Vote returns the options of a vote, nil for other nodes.
func (n *Node) Vote() *VoteOptions { return n.vote }

// Kind tells what the node is made of.
func (n *Node) Kind() NodeKind { return n.kind }

// Name is the declared name, or "".
func (n *Node) Name() string { return n.name }

// In is the type of the input.
func (n *Node) In() *generable.Type { return n.in }

// Out is the type of the output.
func (n *Node) Out() *generable.Type { return n.out }

// Pos is where the node was made.
func (n *Node) Pos() diag.Pos { return n.site.Span.Pos }

// Children are the nodes placed in this one: of a branch the source first, then the handlers; of an
// agent what mends the calls of its tools.
func (n *Node) Children() []*Node { return n.kids }

// Failed reports whether a mistake was already reported for the node.
func (n *Node) Failed() bool { return n.failed }

// Agent returns the specification of an agent, nil for other nodes.
func (n *Node) Agent() *AgentSpec { return n.agent }

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

// Carried gives the type of what edge i of a graph takes from its node, nil where nothing is left
// for it.
func (n *Node) Carried(i int) *generable.Type { return n.spec.Sent[i] }

// Merge returns the node that makes something of a parallel's list, nil when there is none.
func (n *Node) Merge() *Node {
	if !n.merges {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// branches are the kids of a parallel that run at once.
func (n *Node) branches() []*Node {
	if n.merges {
		return n.kids[:len(n.kids)-1]
	}
	return n.kids
}

// Decides tells who ends a forum: the captain or, where the participants have to agree, the
// node for when they do not; nil when there is neither.
func (n *Node) Decides() *Node {
	if n.kind != ForumNode || n.quorum > 0 && n.other == nil {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// Consensus is how many participants of a forum must agree, 0 where a captain decides.
func (n *Node) Consensus() int { return n.quorum }

// OnError tells what a parallel or an each does with failures.
func (n *Node) OnError() OnError { return n.onError }

// Field is the field that a pick projects.
func (n *Node) Field() string { return n.field }

// Label names the node for people: its name, that of the script's function that a step is made
// of, or its kind. Positions hold the name alone.
func (n *Node) Label() string {
	if n.name != "" {
		return n.name
	}
	if n.kind == FnNode && n.spec.Func != nil {
		if info := n.spec.Func.Info(); info.Pos.IsValid() && info.Name != "lambda" {
			return info.Name
		}
	}
	if n.kind == PickNode {
		return `pick("` + n.field + `")`
	}
	return n.kind.String()
}

// Acts is the most that the functions of a node do, with those of the nodes inside.
func (n *Node) Acts() (class Class) {
	n.Callbacks(func(f Func) { class = class.Stronger(acts(f)) })
	return class
}

// Callbacks gives the functions that a node calls, with those of the nodes inside: of agents those that
// are run instead of a model alone.
func (n *Node) Callbacks(give func(Func)) {
	if n == nil { // the map of an edge that has none
		return
	}
	each := func(fs ...Func) {
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
		each(l.Next, l.Until)
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

// AgentSpec declares an agent: a typed function that a model or code carries out.
type AgentSpec struct {
	Name        string
	In, Out     *generable.Type // default str
	Model       string          // "provider/model"; "" takes the run's default
	Fallbacks   []string        // models to ask, in order, when Model cannot answer
	ModelSpan   diag.Span       // where the script says so
	Params      Params
	Choice      ToolChoice // of the model's first answer in a call of the agent
	Structured  Structured
	Enough      *predicate.Predicate // ends an answer early: holds of fields of Out
	EnoughSpan  diag.Span
	Prompt      string        // the system text, literal
	Template    *TemplateText // the system text with the input's fields, instead of Prompt
	PromptSpan  diag.Span     // of either
	Skills      []*Skill      // none: Run or Prompt makes the one obvious skill
	Select      *Selection    // chooses among the skills; nil: their types decide
	Tools       []*Tool       // of every skill that a model carries out
	Servers     []*ServerSpec // whose tools every such skill has
	Run         Func          // deterministic: no model
	Budget      Limits        // of one call of the agent
	OnBadOutput Func          // raw text → a value of Out
	Onlooker    Onlooker      // is told of answers while they arrive
	Repairs     int           // how often a model is asked again for an answer that fits

	OnToolError *Recovery  // of tools that have none of their own
	ToolsAtOnce int        // calls of one answer that run at once; default [DefaultToolsAtOnce]
	Of          *AgentSpec // of a router, which is asked like an agent: the agent that it chooses for
	Policy      *Policy    // over the calls of tools in all skills, beside the host's
	Hooks       []*Hooks   // around its calls, beside the run's

	Memory     *MemoryBank // notes that its tools read and write; nil: none
	MemorySpan diag.Span
	History    *History // what it sees of a conversation; nil: what the flow around it says, else nothing
}

// Skill is one thing that an agent can do.
type Skill struct {
	Name, Doc   string
	In, Out     *generable.Type // nil: the agent's
	Run         Func            // deterministic; excludes Tools
	Tools       []*Tool
	Servers     []*ServerSpec // whose tools it has as well
	Knowledge   []Knowledge
	Description string  // replaces the generated description verbatim, when not empty
	Policy      *Policy // over its calls of tools, beside the agent's and the host's
	Span        diag.Span
}

// Knowledge is a text that a model can ask for. It is not part of the prompt.
type Knowledge struct {
	Key, Doc string
	Text     string
	Load     Func // called when the model asks, instead of Text; one that needs an argument gets what the model looks for
}

// Flow is a composition that an agent calls: as a tool, or to mend a call that failed. A [Node] is one.
type Flow interface {
	Label() string        // for people
	Out() *generable.Type // of what it gives
	Acting
}

// Tool is a function that a model can call.
type Tool struct {
	Name, Doc string
	Params    *generable.Type // a schema; its fields are the parameters
	Returns   *generable.Type // nil: any
	Class     Class
	Run       Func        // runs inline and again on replay; nil without a Node: an effect handled under Name
	Version   string      // of a handled tool
	Server    *ServerSpec // that runs it, nil when none does
	Remote    string      // its name there
	Schema    string      // of its parameters, verbatim, where Params cannot say all of it
	Span      diag.Span
	Untrusted bool       // its results are text from outside: marked as such, and put into an envelope
	Rules     *ToolRules // when it may be called; nil: always

	OnError   *Recovery     // what is done about calls that fail, before the model hears of it
	Timeout   time.Duration // of one execution; 0 is without
	MaxResult int           // bytes of a result's text that a model is told; default [DefaultMaxResult]
	Node      Flow          // runs inline instead of Run, see [AsTool]
	knows     bool          // it gives a piece of knowledge
}
