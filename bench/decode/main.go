// Command decode compares the decoder with its peers in one run: how fast each reads clean, fenced, broken and streamed
// JSON, how much of the result is right, and how each copes with hostile texts.
//
//	go run ./decode [-time 1s] [-rounds 9] [-only REGEXP] [-markdown]
//
// Time is the CPU time of one thread, as the median of the rounds. In each round all engines take turns. The peers from
// npm are measured if Node is installed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/agentscript/agentscript/bench/internal/measure"
	"github.com/agentscript/agentscript/generable"
)

// bench is one run of the benchmark.
type bench struct {
	time        time.Duration // for each measurement, over all rounds
	rounds      int
	limit       time.Duration // of a peer for a hostile text
	hostileSize int           // bytes of a hostile text
	markdown    bool
	log         io.Writer

	self    string // the path of this program, which is started again for what may crash
	dir     string // the directory of the texts, for other processes
	saved   int
	node    *node // nil without Node
	engines []*engine
	streams []*engine

	cells       []*cell
	bracketed   []bracketsCell
	hostilities []*hostility
}

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "decode:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	b := &bench{log: stderr}
	flags := flag.NewFlagSet("decode", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&b.time, "time", time.Second, "CPU time for each measurement, over all rounds")
	flags.IntVar(&b.rounds, "rounds", 9, "rounds, of which the median is told")
	flags.DurationVar(&b.limit, "limit", defaultLimit, "what a peer may take for a hostile text")
	flags.IntVar(&b.hostileSize, "hostile", 10_000_000, "bytes of a hostile text")
	flags.BoolVar(&b.markdown, "markdown", false, "write tables for a page")
	nodeDir := flags.String("node", "node", "directory of the script for Node; empty leaves its decoders out")
	only := flags.String("only", "", "regular expression for the parts to run: "+strings.Join(partNames(), ", "))
	name := flags.String("child", "", "for the program's own use, as are the next")
	file := flags.String("file", "", "")
	variant := flags.String("variant", "", "")
	items := flags.Int("items", 0, "")
	weigh := flags.Bool("weigh", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name != "" {
		return child(*name, *file, *variant, *items, *weigh, stdout)
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if b.time <= 0 || b.rounds < 1 || b.hostileSize < 1 {
		return errors.New("-time, -rounds and -hostile want more than nothing")
	}
	if err := b.open(*nodeDir); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, p := range parts {
		if wanted.MatchString(p.name) {
			if err := p.run(b); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	b.report(stdout)
	return nil
}

// parts are the parts of the benchmark that can be run alone.
var parts = []struct {
	name string
	run  func(b *bench) error
}{
	{"1.8KB", func(b *bench) error { return b.documents(sizes[0], true, true) }},
	{"8KB", func(b *bench) error { return b.documents(sizes[1], false, true) }},
	{"159KB", func(b *bench) error { return b.documents(sizes[2], true, true) }},
	{"15MB", func(b *bench) error { return b.documents(sizes[3], true, false) }},
	{"brackets", (*bench).brackets},
	{"hostile", (*bench).hostile},
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// open prepares a run and reports the machine and the versions.
func (b *bench) open(nodeDir string) error {
	t, err := catalogueType()
	if err != nil {
		return err
	}
	b.engines, b.streams = engines(t), streams(t)
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "bench-decode-"); err != nil {
		return err
	}
	with := "decoders of npm left out"
	if nodeDir != "" {
		if b.node, err = openNode(nodeDir); err != nil {
			with += ": " + err.Error()
		} else {
			with = "Node " + b.node.version
		}
	}
	b.progress("%s %s/%s, %s\n%s; median of %d rounds, %v for each measurement", runtime.Version(), runtime.GOOS, runtime.GOARCH, with, measure.Clock, b.rounds, b.time)
	return nil
}

func (b *bench) progress(format string, args ...any) { fmt.Fprintf(b.log, format+"\n", args...) }

// allEngines returns the engines that a child finds by name.
func allEngines(t *generable.Type) []*engine {
	all := append(engines(t), streams(t)...)
	return append(all, &engine{name: ownDeep, own: true, repairs: true, decode: deep})
}
