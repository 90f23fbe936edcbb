package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp/serve"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/command"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

const serveMCPLong = `Serve mcp offers a script's main, or the globals that --expose names, as tools of an MCP server: to
one client over stdin and stdout, or with --http to any number of clients over streamable HTTP, at
the path /mcp.

The tool of main is named after the file: support.star offers support. --expose main=answer gives it
another name. Other globals that --expose names keep their names.

The arguments of a tool are the parameters of a function, the fields of the schema that a node
takes, or one argument, input. Each call is a separate run, which ends when the client cancels the
call. A failure is the result of its call, for the client's model to act on; the server continues,
even if it receives something that is not a message. When stdin ends, or when a server over HTTP is
told to stop, the calls that it has read have --linger to finish.

Other machines can reach the server only with a token, which clients send as
"Authorization: Bearer TOKEN"; --token-env names the variable that holds it.`

// serving are the flags of serve mcp, in addition to those of run about runs.
type serving struct {
	setup.RunFlags
	expose   []string
	http     string
	tokenEnv string
	atOnce   int
	linger   time.Duration
}

func (o *serving) serveFlags() *pflag.FlagSet {
	f := pflag.NewFlagSet("mcp", pflag.ContinueOnError)
	f.Usage = func() {}
	f.SortFlags = false
	f.StringArrayVar(&o.expose, "expose", nil, "offer the node or function of this global `NAME` instead of main, or name=tool to name its tool; repeatable")
	f.StringVar(&o.http, "http", "", "serve streamable HTTP at `HOST:PORT` instead of stdin and stdout")
	f.StringVar(&o.tokenEnv, "token-env", "", "require clients to send the token that the variable `NAME` holds")
	f.IntVar(&o.atOnce, "at-once", 16, "carry out at most `N` calls at the same time")
	f.DurationVar(&o.linger, "linger", 5*time.Second, "how long calls may continue after the client ends, or after a server over HTTP is told to stop")
	f.AddFlagSet(setup.Without(o.Flags(), "input-json", "input-file", "trace", "record", "replay", "session", "session-store", "output", "verbose", "progress", "watch", "help", "on-unknown"))
	return f
}

func serveVerb(c *term.Console) *cobra.Command {
	serve := &cobra.Command{
		Use: "serve", Short: "Serve a script's flows to other programs",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return term.Usagef("the only kind is mcp: agentscript serve mcp FILE", "there is no way to serve %q", args[0])
		},
	}
	o := &serving{}
	own := o.serveFlags()
	as := &cobra.Command{
		Use: "mcp FILE", Short: "Serve a script's flows as MCP tools", Long: serveMCPLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := oneFile(cmd, args)
			if err != nil {
				return err
			}
			return serveMCP(c, o, own, file)
		},
	}
	as.Flags().AddFlagSet(own)
	as.Flags().SortFlags = false
	serve.AddCommand(as)
	return serve
}

func serveMCP(c *term.Console, o *serving, own *pflag.FlagSet, file string) error {
	c.JSON = o.JSON
	var problem *term.Failure
	if o.Project, problem = project.Open(filepath.Dir(file), c.LookupEnv); problem != nil {
		return problem
	}
	problem = cmp.Or(o.Project.Fill(project.Run, own), o.Valid(own))
	if c.Defaults = project.Filled(own); problem != nil {
		return problem
	}
	if o.atOnce < 1 {
		return term.Usagef("", "--at-once must be at least 1")
	}
	if o.linger < 0 {
		return term.Usagef("0 ends calls at once", "--linger must not be negative")
	}
	token, problem := o.token(c)
	if problem != nil {
		return problem
	}
	if o.http == "" { // stdin is the client's, and the terminal may be too
		c.StdinTerminal, c.OpenTerminal = false, nil
	}
	ctx, stop := c.Interruptible()
	defer stop()
	grants, allowed, problem := o.Grants.Open(c)
	if problem != nil {
		return problem
	}
	if grants != nil {
		defer func() { _ = grants.Close() }() // nothing is written yet
	}
	o.Granted = grants
	opts := []agentscript.Option{agentscript.WithLoadTimeout(cmp.Or(o.Timeout, agentscript.DefaultLoadTimeout)), allowed}
	if o.Strict {
		opts = append(opts, agentscript.WithStrict())
	}
	flowing, problem := o.Loading(&o.RunFlags, file)
	if problem != nil {
		return problem
	}
	s, err := setup.Load(c, ctx, file, o.Root, append(opts, flowing)...)
	if err != nil {
		return err
	}
	models, problem := setup.OpenPorts(c, s, &o.RunFlags, own)
	if problem != nil {
		return problem
	}
	defer models.Close()
	run := append(models.Options, agentscript.RunLimits(o.Limits(own)))
	log := &serveLog{c: c, quiet: o.Quiet, json: term.JSONLines{Out: c.JSONOut()}}
	if o.JSON && !o.Quiet {
		log.json.Only = engine.EventAll
	}
	offers, problem := o.offers(s, run, log)
	if problem != nil {
		return problem
	}
	server, err := serve.New(serve.Options{Name: toolName(file), Version: command.VersionOf(c.Version).Version, AtOnce: o.atOnce, Linger: cmp.Or(o.linger, -1), Secrets: models.Models.Secrets}, offers...)
	if err != nil {
		return term.Usagef("choose another name: --expose name=tool", "%s", err)
	}
	c.Report(slices.DeleteFunc(slices.Clone(s.Diagnostics()), func(d *diag.Diagnostic) bool {
		return d.Code == diag.UnusedAgent && len(o.expose) > 0 // what is offered is used
	}), s.Sources())
	if o.http != "" {
		return serveHTTP(c, ctx, server, token, o)
	}
	in, closes := c.Stdin.(io.ReadCloser) // closing it ends a pending read
	if !closes {
		in = io.NopCloser(c.Stdin)
	}
	if err := server.Stdio(ctx, in, writing{c.Stdout}); err != nil {
		return &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: "the client cannot be served: " + err.Error()}}}
	}
	return nil
}

// token reads the token. Without a token, only this machine may reach the server.
func (o *serving) token(c *term.Console) (string, *term.Failure) {
	if o.http == "" {
		if o.tokenEnv != "" {
			return "", term.Usagef("add --http HOST:PORT", "--token-env is for clients over HTTP")
		}
		return "", nil
	}
	host, _, err := net.SplitHostPort(o.http)
	if err != nil {
		return "", term.Usagef("write HOST:PORT, as in 127.0.0.1:8000", "--http %q is no address", o.http)
	}
	if o.tokenEnv == "" {
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			return "", nil
		}
		return "", term.Usagef("add --token-env NAME, or serve 127.0.0.1 alone", "--http %s can be reached from other machines, and there is no token", o.http)
	}
	token := strings.TrimSpace(c.Env(o.tokenEnv))
	if len(token) < 16 {
		return "", term.Usagef("set it to a token of at least 16 characters", "--token-env %s: the variable holds no token", o.tokenEnv)
	}
	return token, nil
}

// offers makes tools of what is offered.
func (o *serving) offers(s *setup.Script, run []agentscript.RunOption, log *serveLog) ([]serve.Offer, *term.Failure) {
	names := o.expose
	if len(names) == 0 {
		if s.MainEntry == nil {
			return nil, &term.Failure{Code: term.ExitCheck, Found: diag.List{s.NoMain}, Sources: s.Sources()}
		}
		names = []string{"main=" + toolName(s.File)}
	}
	var offers []serve.Offer
	for _, pair := range names {
		name, as, renamed := strings.Cut(pair, "=")
		if !renamed {
			as = name
		}
		flow, err := s.Flow(name)
		if err != nil {
			if missing, ok := errors.AsType[*agentscript.LoadError](err); ok {
				return nil, &term.Failure{Code: term.ExitCheck, Found: missing.List, Sources: missing.Sources}
			}
			return nil, term.Usagef("", "--expose %s: %s", pair, err)
		}
		offers = append(offers, serve.Offer{Name: as, Doc: flow.Doc, Params: flow.Params, Out: flow.Out,
			Call: func(ctx context.Context, args generable.Value, tell func(string)) (generable.Value, error) {
				if o.Timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, o.Timeout)
					defer cancel()
				}
				return log.follow(as, tell, func(watch ...agentscript.RunOption) *agentscript.Run {
					return flow.Start(ctx, args, append(run[:len(run):len(run)], watch...)...)
				})
			}})
	}
	return offers, nil
}

// notInNames are the characters that clients do not accept in the name of a tool.
var notInNames = lazy.Regexp(`[^a-zA-Z0-9_-]`)

// toolName returns a script's file name as a name that clients accept.
func toolName(file string) string {
	return notInNames().ReplaceAllString(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), "_")
}

// serveHTTP serves until ctx ends, and then gives calls in progress some time to end.
func serveHTTP(c *term.Console, ctx context.Context, tools *serve.Server, token string, o *serving) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", tools.HTTP(token))
	listener, err := net.Listen("tcp", o.http)
	if err != nil {
		return term.Usagef("", "--http %s: %s", o.http, err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	fmt.Fprintf(c.Stderr, "serving http://%s/mcp\n", listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: "the server ended: " + err.Error()}}}
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), o.linger)
	defer cancel()
	if server.Shutdown(last) != nil { // some call is still in progress
		ending, stop := context.WithTimeout(context.Background(), 3*time.Second)
		defer stop()
		tools.Close(ending)
		_ = server.Close() // the server ends anyway
	}
	<-ended
	return nil
}

// writing keeps the process's own stream open.
type writing struct{ io.Writer }

func (w writing) Close() error { return nil }

// serveLog reports on stderr the calls that a server carries out: a line when one begins and one when it ends, and what
// scripts print; or all events as JSON lines.
type serveLog struct {
	c     *term.Console
	quiet bool
	json  term.JSONLines

	mu sync.Mutex
}

// follow starts a run, waits for it, and reports it: to the log, and its nodes to the client. The run waits for its
// log, so that unread events do not accumulate.
func (l *serveLog) follow(tool string, tell func(string), start func(...agentscript.RunOption) *agentscript.Run) (generable.Value, error) {
	begun, id := time.Now(), runID()
	l.line("call   %s  run %s", tool, id)
	run := start(agentscript.ID(id), agentscript.OnEvent(l.json.Only|engine.EventLog|engine.EventNode, func(e engine.Event) {
		if e.Kind == engine.EventNode && e.Phase() == engine.PhaseStart {
			tell(e.Path)
		}
		l.event(tool, e)
	}))
	res, err := run.Wait()
	took := time.Since(begun).Round(100 * time.Microsecond)
	if err != nil {
		l.line("failed %s  %s  run %s  %s", tool, took, id, term.OneLine(err.Error(), 300))
		return res.Value, err
	}
	l.line("done   %s  %s  run %s", tool, took, id)
	return res.Value, nil
}

func runID() string {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

func (l *serveLog) event(tool string, e engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.json.Only&e.Kind != 0:
		l.json.Event(e)
	case e.Kind == engine.EventLog && l.json.Only == 0:
		fmt.Fprintln(l.c.Stderr, text.Terminal("log    "+tool+"  "+term.OneLine(e.Text(), 300)))
	}
}

func (l *serveLog) line(format string, args ...any) {
	if l.quiet || l.json.Only != 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.c.Stderr, text.Terminal(fmt.Sprintf(format, args...)))
}
