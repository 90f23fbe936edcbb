// Command agentscript-temporal-devserver is a Temporal server in one process, for laptops and tests. It keeps its data
// in memory or in one file. It is not for production.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/searchattribute/sadefs"
	"go.uber.org/zap"
)

const usage = `Usage: agentscript-temporal-devserver [flags]

A Temporal server in one process, for laptops and tests. Once it answers, it prints one line to
standard output: {"address":"127.0.0.1:7233","namespaces":["default"]}
An interrupt or a termination signal ends it.

Flags:
  --addr IP:PORT                 where it listens (127.0.0.1:7233); port 0 takes a free one
  --db FILE                      keep the data in FILE, and continue with what is in it (in memory)
  --namespace NAME               a namespace that it has (default); repeatable
  --search-attribute NAME=TYPE   a search attribute of each namespace; repeatable
                                 types: Keyword, Text, Int, Double, Datetime, Bool, KeywordList
  --with-parent                  end when standard input ends, and so with the parent process
  --quiet                        log fatal errors only; otherwise errors and, once it answers, warnings
`

// errUsage is the error of a wrong command line.
type errUsage struct{ error }

func main() {
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends a shutdown that takes too long.
	context.AfterFunc(signals, stop)

	err := run(signals, os.Args[1:], os.Stdin, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	case errors.As(err, new(errUsage)):
		fmt.Fprintf(os.Stderr, "agentscript-temporal-devserver: %v (--help lists the flags)\n", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "agentscript-temporal-devserver: %v\n", err)
		os.Exit(1)
	}
}

// run serves until ctx ends or, with --with-parent, until in does.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.withParent {
		var orphaned context.CancelFunc
		ctx, orphaned = context.WithCancel(ctx)
		go func() {
			_, _ = io.Copy(io.Discard, in)
			orphaned()
		}()
	}
	s, err := newServer(o)
	if err != nil {
		return err
	}
	if o.quiet {
		s.level.SetLevel(zap.FatalLevel)
	}
	// Only the end of the process interrupts a start; the file survives that.
	started := make(chan error, 1)
	go func() { started <- s.Start() }()
	select {
	case err := <-started:
		if err != nil {
			return fmt.Errorf("start the server: %w", err)
		}
	case <-ctx.Done():
		return nil
	}
	switch err := s.ready(ctx, o); {
	case ctx.Err() != nil:
		return s.Stop()
	case err != nil:
		return errors.Join(err, s.Stop())
	}
	if !o.quiet {
		s.level.SetLevel(zap.WarnLevel)
	}
	line := struct {
		Address    string   `json:"address"`
		Namespaces []string `json:"namespaces"`
	}{s.address, o.namespaces}
	if err := json.NewEncoder(out).Encode(line); err != nil {
		return errors.Join(err, s.Stop())
	}
	<-ctx.Done()
	return s.Stop()
}

// parse reads the command line.
func parse(args []string) (o options, err error) {
	o.attributes = map[string]enumspb.IndexedValueType{}
	addr := ""

	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&addr, "addr", "127.0.0.1:7233", "")
	flags.StringVar(&o.db, "db", "", "")
	flags.BoolVar(&o.quiet, "quiet", false, "")
	flags.BoolVar(&o.withParent, "with-parent", false, "")
	flags.Func("namespace", "", func(name string) error {
		if name == "" {
			return errors.New("a namespace has a name")
		}
		if !slices.Contains(o.namespaces, name) {
			o.namespaces = append(o.namespaces, name)
		}
		return nil
	})
	flags.Func("search-attribute", "", func(text string) error {
		name, kind, _ := strings.Cut(text, "=")
		value, err := enumspb.IndexedValueTypeFromString(kind)
		if name == "" || err != nil || value == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
			return errors.New("must be NAME=Keyword, Text, Int, Double, Datetime, Bool or KeywordList")
		}
		if sadefs.IsReserved(name) {
			return fmt.Errorf("%s is a name that the server itself uses", name)
		}
		o.attributes[name] = value
		return nil
	})
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, errUsage{err}
	}
	if flags.NArg() > 0 {
		return o, errUsage{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	if len(o.namespaces) == 0 {
		o.namespaces = []string{"default"}
	}
	o.ip, o.port, err = parseAddr(addr)
	return o, err
}

// parseAddr reads an address to listen at.
func parseAddr(addr string) (net.IP, int, error) {
	bad := errUsage{fmt.Errorf("--addr %q must be an IP address and a port, like 127.0.0.1:7233", addr)}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, 0, bad
	}
	if host == "localhost" {
		host = loopback
	}
	ip := net.ParseIP(host)
	port, err := strconv.ParseUint(text, 10, 16)
	if ip == nil || err != nil {
		return nil, 0, bad
	}
	return ip, int(port), nil
}
