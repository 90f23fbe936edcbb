// Package grant lets scripts access the outside world as far as a host permits: commands, hosts, directories and
// environment variables, each by name. What is not granted does not exist for a script.
//
//	g, err := grant.New(grant.Exec("git"), grant.Net("api.example.com"), grant.FS("notes", grant.ReadWrite), grant.Env("LANG"))
//	...
//	defer g.Close()
//	eng := agentscript.New(agentscript.WithGrants(g))
//
// It is a separate package so that a host that grants nothing links neither net/http nor code that starts processes.
package grant

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/generable"
)

// DefaultOutputCap limits how many bytes of a command's output, of an HTTP answer and of a file a script gets. For a
// command it applies to each of the two output streams.
const DefaultOutputCap = 1 << 20

// Grants is what scripts may access, and the handler that performs the access: it implements [capability.Grants]. It is
// immutable, serves any number of concurrent runs, and is valid until it is closed.
type Grants struct {
	base     string // absolute: the base of relative paths
	cap      int64
	commands map[string]string // by the word that scripts use: the absolute path
	hosts    []host
	mounts   []*mount
	guards   []guarded // what leads to commands inside of writable directories
	warnings []string
	env      []variable
	lookup   func(string) (string, bool)
	client   *http.Transport // nil if no host is granted
	proxy    *url.URL        // nil if none is used
	roots    *x509.CertPool  // trusted for servers; nil for the system's
}

var _ capability.Grants = (*Grants)(nil)

// Option grants something. Options add up: none takes anything away.
type Option func(*Grants) error

// New builds grants: it looks up commands and opens directories. An error names the grant that is unusable; its code is
// AS622.
func New(options ...Option) (*Grants, error) {
	base, err := os.Getwd()
	if err != nil {
		return nil, unusable("the working directory is not there: %w", err)
	}
	g := &Grants{base: base, cap: DefaultOutputCap, commands: map[string]string{}, lookup: os.LookupEnv}
	for _, o := range options {
		if o == nil {
			continue
		}
		if err := o(g); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	if err := g.open(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.shortSecrets()
	if len(g.hosts) > 0 {
		g.connect()
	}
	return g, nil
}

// Close releases open directories and idle connections. Runs that use the grants fail from then on.
func (g *Grants) Close() error {
	var wrong []error
	for _, m := range g.mounts {
		if m.root != nil {
			wrong = append(wrong, m.root.Close())
		}
	}
	if g.client != nil {
		g.client.CloseIdleConnections()
	}
	return errors.Join(wrong...)
}

// WorkDir sets the base of scripts' relative paths, where commands also run, instead of the working directory of the
// process. It grants nothing.
func WorkDir(dir string) Option {
	return func(g *Grants) error {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return unusable("the directory %q cannot be used: %w", dir, err)
		}
		g.base = abs
		return nil
	}
}

// OutputCap sets how many bytes of output, of an answer or of a file a script gets, instead of
// [DefaultOutputCap].
func OutputCap(bytes int64) Option {
	return func(g *Grants) error {
		if bytes < 1 {
			return unusable("the output cap is %d bytes: want at least 1", bytes)
		}
		g.cap = bytes
		return nil
	}
}

// unusable returns the error of an unusable grant.
func unusable(format string, args ...any) *engine.Error {
	return engine.Errorf(engine.KindConfig, diag.BadGrant, format, args...)
}

// Allows implements [capability.Grants].
func (g *Grants) Allows(u capability.Use) bool {
	switch u.Kind {
	case engine.EffectExec:
		return u.Target == "" && len(g.commands) > 0 || g.commands[u.Target] != ""
	case engine.EffectHTTP:
		return u.Target == "" && len(g.hosts) > 0 || u.Target != "" && g.allowsHost(u.Target)
	case engine.EffectFS:
		return g.allowsPath(u)
	case engine.EffectEnv:
		return g.allowsEnv(u)
	}
	return false
}

// Do implements [engine.Handler].
func (g *Grants) Do(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req, ok := e.Req.(*capability.Request)
	if !ok {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.UngrantedUse, "the request of %s %q is %T, want *capability.Request", e.Kind, e.Name, e.Req))
	}
	a := args{req.Args}
	ctx, cancel := context.WithTimeout(ctx, a.timeout())
	defer cancel()
	var out engine.Outcome
	switch e.Kind {
	case engine.EffectExec:
		out = g.run(ctx, a)
	case engine.EffectHTTP:
		out = g.request(ctx, req.Op, a)
	case engine.EffectFS:
		out = g.file(ctx, req.Op, a)
	case engine.EffectEnv:
		out = g.variable(req.Op, a)
	default:
		out = engine.Failed(engine.Errorf(engine.KindConfig, diag.UngrantedUse, "nothing here does %s", e.Kind))
	}
	out.Attempt = 1
	return out
}

// args reads the arguments of a request.
type args struct{ *generable.Map }

func (a args) value(name string) generable.Value {
	v, _ := a.Get(name)
	return v
}

func (a args) str(name string) string {
	s, _ := a.value(name).AsStr()
	return s
}

// timeout returns how long the operation may take.
func (a args) timeout() time.Duration {
	s, ok := a.value("timeout").AsNumber()
	if !ok || s <= 0 {
		s = 30
	}
	return time.Duration(s * float64(time.Second))
}

// tooSlow returns the error of an operation that its timeout or the end of the run stopped.
func (a args) tooSlow(ctx context.Context, what string) *engine.Error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return engine.Errorf(engine.KindTimeout, diag.Timeout, "%s did not end within %s", what, a.timeout()).
			WithHelp("allow it more with timeout = \"2m\"")
	}
	return engine.Errorf(engine.KindCancelled, diag.Cancelled, "%s was stopped: the run is to end", what)
}

func failed(code diag.Code, format string, args ...any) *engine.Error {
	return engine.Errorf(engine.KindTool, code, format, args...)
}

// done returns the outcome with a record of a type.
func done(t *generable.Type, vals ...generable.Value) engine.Outcome {
	return engine.Outcome{Value: generable.NewRecord(t, vals).Value()}
}

// reason returns the cause of an error without the path that an error of the operating system repeats.
func reason(err error) string {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}
