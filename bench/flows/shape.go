package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// shape is a flow of a given size. Every engine runs it in the way that the engine's documentation shows.
type shape struct {
	name, title string
	unit        string // what a figure is for: a run has as many units as its size
	sizes       []int
	programs    []program
	meet        bool // the nodes wait for each other
}

func (s *shape) step(size int) (body step) {
	if s.meet {
		body.meets = newMeeting(size)
	}
	return body
}

// program is an engine's version of a shape.
type program struct {
	engine string
	make   func(size int, s step) (once, error)
	most   int // the largest size, 0 for all
}

// step is the body of every node. It does nothing, so that figures are the cost of the engine. In a test it marks the
// node, so that results show what ran.
type step struct {
	marks bool
	meets *meeting // where all nodes of a flow wait for each other; nil if they do not
}

func (s step) do(node int, x string) string {
	if s.meets != nil {
		s.meets.wait()
	}
	if !s.marks {
		return x
	}
	x += "." + strconv.Itoa(node)
	if node%3 == 1 {
		x += "!" // makes decisions differ
	}
	return x
}

// once runs a program that was built once.
type once func() (any, error)

// input is the input of flows.
const input = "x"

// The names of engines in bars and factors.
const (
	own      = "agentscript"
	starlark = "agentscript, bodies in Starlark"
	script   = "agentscript, from a script"
	here     = "agentscript, in the caller's goroutine"
	plain    = "plain Go"
)

var shapes = []*shape{
	{"chain", "A chain of steps that do nothing", "step", []int{1, 10, 100}, []program{
		{plain, plainChain, 0}, {own, ownChain, 0}, {starlark, starlarkChain, 0},
		{"eino, chain", einoChain, 0}, {"genkit, flow", genkitChain, 0}, {"langchaingo, chain", langchainChain, 0},
	}, false},
	{"fan-out", "A fan-out of steps that do nothing, their results in order", "branch", []int{10, 100, 1000, 10_000}, []program{
		{plain, plainFanout, 0}, {own, ownFanout, 0},
		{"eino, parallel", einoFanout, 1000}, {"genkit, goroutines in a flow", genkitFanout, 0},
		{"langchaingo, apply", langchainApply(0), 0}, {"langchaingo, apply, as many workers", langchainApply(1), 0},
	}, false},
	{"waiting", "A fan-out of steps that each wait until all of them run", "branch", []int{10, 100, 1000}, []program{
		{plain, plainFanout, 0}, {own, ownFanout, 0},
		{"eino, parallel", einoFanout, 0}, {"genkit, goroutines in a flow", genkitFanout, 0},
		{"langchaingo, apply, as many workers", langchainApply(1), 0},
	}, true},
	{"branch", "A step, and then one of two, as a function of its result decides; again and again", "decision", []int{1, 10, 100}, []program{
		{plain, plainBranch, 0}, {own, ownBranch, 0}, {"agentscript, graph", ownGraph, 0},
		{"eino, graph", einoBranch, 0}, {"genkit, if in a flow", genkitBranch, 0}, {"langchaingo, chains under an if", langchainBranch, 0},
	}, false},
	{"loop", "A loop that counts", "turn", []int{1000, 100_000}, []program{
		{plain, plainLoop, 0}, {own, ownLoop, 0}, {"agentscript, graph", ownCycle, 0},
		{"eino, graph", einoLoop, 0}, {"genkit, for in a flow", genkitLoop, 0}, {"langchaingo, chain under a for", langchainLoop, 0},
	}, false},
	{"build", "Building and checking a chain, and running it once", "node", []int{1, 10, 100}, []program{
		{own, afresh(ownChain), 0}, {script, afresh(starlarkChain), 0},
		{"eino, chain", afresh(einoChain), 0}, {"eino, graph", afresh(einoLine), 0}, {"langchaingo, chain", afresh(langchainChain), 0},
	}, false},
	{"check", "Checking a script", "line", []int{100, 1000}, []program{{own, ownCheck, 0}}, false},
	{"agent", "An agent with a typed answer and a tool, its model a fake", "turn", []int{1, 2, 20}, []program{
		{own, ownAgent, 0}, {here, ownAgentHere, 0}, {"eino, react", einoReact, 0}, {"eino, adk", einoADK, 0},
		{"genkit, generate", genkitAgent, 0}, {"langchaingo, functions agent", langchainAgent, 0},
	}, false},
}

func shapeNames() (names []string) {
	for _, s := range shapes {
		names = append(names, s.name)
	}
	return names
}

// afresh returns a program that is built again for each run.
func afresh(f func(int, step) (once, error)) func(int, step) (once, error) {
	return func(size int, s step) (once, error) {
		return func() (any, error) {
			o, err := f(size, s)
			if err != nil {
				return nil, err
			}
			return o()
		}, nil
	}
}

// figures are the measurements of a shape, by program and size.
type figures struct {
	shape *shape
	took  [][]*measure.Measured // nil if the program does not run at that size
}

// measure measures all programs of a shape at all sizes. Programs of the same size take turns.
func (s *shape) measure(total time.Duration, rounds int, log io.Writer) (*figures, error) {
	f := &figures{shape: s, took: make([][]*measure.Measured, len(s.programs))}
	for i := range f.took {
		f.took[i] = make([]*measure.Measured, len(s.sizes))
	}
	for j, size := range s.sizes {
		var tasks []measure.Task
		var whose []int
		for i, p := range s.programs {
			if p.most > 0 && size > p.most {
				continue
			}
			o, err := p.make(size, s.step(size))
			if err != nil {
				return nil, fmt.Errorf("%s of %d: %w", p.engine, size, err)
			}
			tasks = append(tasks, measure.InProcess(func() error { _, err := o(); return err }))
			whose = append(whose, i)
		}
		for k, m := range measure.Measure(tasks, total, rounds) {
			if m.Err != nil {
				return nil, fmt.Errorf("%s of %d: %w", s.programs[whose[k]].engine, size, m.Err)
			}
			f.took[whose[k]][j] = m
		}
		fmt.Fprintf(log, "%s of %d\n", s.name, size)
	}
	return f, nil
}

// per returns the time of a program for one unit of its shape, in nanoseconds, and its allocations.
func (f *figures) per(engine string, size int) (ns, allocs float64, ok bool) {
	for i, p := range f.shape.programs {
		for j, n := range f.shape.sizes {
			if m := f.took[i][j]; p.engine == engine && n == size && m != nil {
				return m.Least() / float64(n), m.Allocs / float64(n), true
			}
		}
	}
	return 0, 0, false
}
