// Command flows compares the cost of a step of a flow with that of peers in one run: chains, fan-outs, branches, loops,
// building, and the turns of an agent. Each has the same shape for all engines.
//
//	go run ./flows [-time 1s] [-rounds 9] [-only REGEXP] [-procs N] [-markdown]
//
// Time is CPU time, as the minimum of the rounds. In each round all programs take turns.
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
)

func main() {
	if err := measureAll(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "flows:", err)
		os.Exit(1)
	}
}

func measureAll(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("flows", flag.ContinueOnError)
	flags.SetOutput(stderr)
	total := flags.Duration("time", time.Second, "CPU time for each measurement, over all rounds")
	rounds := flags.Int("rounds", 9, "rounds, of which the fastest is told")
	procs := flags.Int("procs", runtime.GOMAXPROCS(0), "threads that compute at the same time")
	markdown := flags.Bool("markdown", false, "write tables for a page")
	only := flags.String("only", "", "regular expression for the parts to run: "+strings.Join(shapeNames(), ", "))
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *total <= 0 || *rounds < 1 || *procs < 1 {
		return errors.New("-time, -rounds and -procs want more than nothing")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*procs))
	fmt.Fprintf(stderr, "%s %s/%s, %d threads\n%s; least of %d rounds, %v for each measurement\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, *procs, measure.Clock, *rounds, *total)
	var all []*figures
	for _, s := range shapes {
		if !wanted.MatchString(s.name) {
			continue
		}
		f, err := s.measure(*total, *rounds, stderr)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, f)
	}
	report(stdout, all, *markdown)
	return nil
}
