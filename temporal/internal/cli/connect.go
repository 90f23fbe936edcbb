package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/temporal"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/blob/sqlite"
)

// blobsVariable names the environment variable for the directory of blobs.
const blobsVariable = "AGENTSCRIPT_TEMPORAL_BLOBS"

// The environment variables of the official command and its libraries.
const (
	tlsVariable  = "TEMPORAL_TLS"
	certVariable = "TEMPORAL_TLS_CLIENT_CERT_PATH"
	keyVariable  = "TEMPORAL_TLS_CLIENT_KEY_PATH"
	caVariable   = "TEMPORAL_TLS_SERVER_CA_CERT_PATH"
	nameVariable = "TEMPORAL_TLS_SERVER_NAME"
)

// server holds the flags about the server, and about what its runs have in common.
type server struct {
	address, namespace, queue, blobs string
	secure                           bool
	createBlobs                      bool // creates a missing file of blobs
	cert, key, ca, name, apiKey      string
	timeout                          time.Duration
}

// addTo adds the flags. Their names are those of the official command where it has them.
func (s *server) addTo(f *pflag.FlagSet) {
	f.StringVar(&s.address, "address", "", "the server, as `HOST:PORT` (TEMPORAL_ADDRESS, default localhost:7233)")
	f.StringVar(&s.namespace, "namespace", "", "the `NAMESPACE` of the runs (TEMPORAL_NAMESPACE, default \"default\")")
	f.StringVar(&s.queue, "task-queue", "agentscript", "the `QUEUE` that runs and their workers share")
	f.StringVar(&s.blobs, "blobs", "", "the `DIR`, or FILE.db on one machine, that holds scripts and large values and that all workers can reach ("+blobsVariable+", default next to the runs of the user)")
	f.BoolVar(&s.secure, "tls", false, "use TLS; a key or a certificate implies it ("+tlsVariable+"=true)")
	f.StringVar(&s.cert, "tls-cert-path", "", "the client's certificate, a PEM `FILE` ("+certVariable+")")
	f.StringVar(&s.key, "tls-key-path", "", "the key of the client's certificate, a PEM `FILE` ("+keyVariable+")")
	f.StringVar(&s.ca, "tls-ca-path", "", "the authorities that sign the server's certificate, a PEM `FILE`, instead of the system's ("+caVariable+")")
	f.StringVar(&s.name, "tls-server-name", "", "the `NAME` in the server's certificate, if it is not the host's ("+nameVariable+")")
	f.StringVar(&s.apiKey, "api-key-file", "", "the `FILE` that holds the API key (instead of TEMPORAL_API_KEY)")
	f.DurationVar(&s.timeout, "connect-timeout", 10*time.Second, "give up after this `DURATION` if the server does not answer")
}

// withEnv returns s with missing values from the environment.
func (s server) withEnv(c *term.Console) server {
	s.address = cmp.Or(s.address, c.Env("TEMPORAL_ADDRESS"), "localhost:7233")
	s.namespace = cmp.Or(s.namespace, c.Env("TEMPORAL_NAMESPACE"), "default")
	s.blobs = cmp.Or(s.blobs, c.Env(blobsVariable))
	s.cert, s.key = cmp.Or(s.cert, c.Env(certVariable)), cmp.Or(s.key, c.Env(keyVariable))
	s.ca, s.name = cmp.Or(s.ca, c.Env(caVariable)), cmp.Or(s.name, c.Env(nameVariable))
	s.secure = s.secure || slices.Contains([]string{"1", "true"}, strings.ToLower(c.Env(tlsVariable)))
	return s
}

// flags returns the flags with which another command reaches the same server.
func (s *server) flags(c *term.Console) string {
	var all []string
	add := func(name, value, variable, usual string) {
		if value != "" && value != cmp.Or(c.Env(variable), usual) {
			all = append(all, "--"+name+" "+text.ShellWord(value))
		}
	}
	add("address", s.address, "TEMPORAL_ADDRESS", "localhost:7233")
	add("namespace", s.namespace, "TEMPORAL_NAMESPACE", "default")
	add("task-queue", s.queue, "", "agentscript")
	add("blobs", s.blobs, blobsVariable, "")
	add("tls-cert-path", s.cert, certVariable, "")
	add("tls-key-path", s.key, keyVariable, "")
	add("tls-ca-path", s.ca, caVariable, "")
	add("tls-server-name", s.name, nameVariable, "")
	add("api-key-file", s.apiKey, "", "")
	if s.secure {
		all = append(all, "--tls")
	}
	return strings.Join(all, " ")
}

// options returns the options that workers and clients share.
func (s server) options(c *term.Console) (o temporal.Options, problem *term.Failure) {
	s = s.withEnv(c)
	named := s.blobs != ""
	if !named {
		var missing string
		if s.blobs, missing = setup.UserDir(c, "temporal-blobs", "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state"); s.blobs == "" {
			return o, term.Usagef("name one with --blobs", "there is no directory for blobs: %s is not set", missing)
		}
	}
	blobs, problem := s.blobStore(named)
	return temporal.Options{Namespace: s.namespace, TaskQueue: s.queue, Blobs: blobs}, problem
}

// blobStore returns the blob store: a directory, or a file whose name ends in .db.
func (s server) blobStore(named bool) (blob.Store, *term.Failure) {
	const same = "all workers and clients need the same one"
	is, err := os.Stat(s.blobs)
	if strings.HasSuffix(s.blobs, ".db") && (err != nil || !is.IsDir()) {
		if err != nil && !s.createBlobs {
			return nil, term.Usagef("a worker makes it; "+same, "--blobs %s: there is no such file", s.blobs)
		}
		file, err := sqlite.Open(s.blobs)
		if err != nil {
			return nil, term.Usagef("name a file that can be written, in a directory of this machine", "--blobs %s: %s", s.blobs, term.OneLine(err.Error(), 300))
		}
		return file, nil // it is open until the command ends
	}
	// A mistyped name would be a separate directory, in which nobody else finds anything.
	if named && (err != nil || !is.IsDir()) {
		return nil, term.Usagef("make it first; "+same, "--blobs %s: there is no such directory", s.blobs)
	}
	return blob.Dir(s.blobs), nil
}

// connect reaches the server within its timeout. logs receives the log of the client library.
func (s server) connect(ctx context.Context, c *term.Console, logs slog.Handler) (client.Client, error) {
	to, err := s.dial(ctx, c, logs)
	return to, s.withEnv(c).connectError(ctx, err)
}

// connectWithRetry is like connect, but retries while no server answers or the server lacks the namespace: one may be
// starting.
func (s server) connectWithRetry(ctx context.Context, c *term.Console, logs slog.Handler, longest time.Duration, say func(string, ...any)) (client.Client, error) {
	until := time.Now().Add(longest)
	for wait := 500 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		to, err := s.dial(ctx, c, logs)
		failed := s.withEnv(c).connectError(ctx, err)
		left := time.Until(until)
		if failed == nil || ctx.Err() != nil || !mayRecover(err) || left <= 0 {
			return to, failed
		}
		if wait == 500*time.Millisecond {
			say("%s; trying again for %s", strings.TrimSuffix(failed.Error(), "."), left.Round(time.Second))
		}
		select {
		case <-time.After(min(wait, left)):
		case <-ctx.Done():
		}
	}
}

// mayRecover reports whether a server may become reachable after this error.
func mayRecover(err error) bool {
	_, failed := errors.AsType[*term.Failure](err) // wrong flags
	_, denied := errors.AsType[*serviceerror.PermissionDenied](err)
	return !failed && !denied && !strings.Contains(err.Error(), "Unauthenticated") && !strings.Contains(err.Error(), "certificate")
}

// dial reaches the server within its timeout.
func (s server) dial(ctx context.Context, c *term.Console, logs slog.Handler) (client.Client, error) {
	s = s.withEnv(c)
	if s.timeout <= 0 {
		return nil, term.Usagef("", "--connect-timeout must be more than 0")
	}
	o := client.Options{HostPort: s.address, Namespace: s.namespace, Logger: log.NewStructuredLogger(slog.New(logs))}
	o.ConnectionOptions.GetSystemInfoTimeout = s.timeout
	if problem := s.credentials(c, &o); problem != nil {
		return nil, problem
	}
	within, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	to, err := client.DialContext(within, o)
	if err == nil {
		_, err = to.WorkflowService().DescribeNamespace(within, &workflowservice.DescribeNamespaceRequest{Namespace: s.namespace})
		if _, denied := errors.AsType[*serviceerror.PermissionDenied](err); denied { // the user may be allowed to use runs, but not to describe the namespace
			err = nil
		}
	}
	if err == nil {
		return to, nil
	}
	if to != nil {
		to.Close()
	}
	return nil, err
}

// connectError returns the failure to reach the server.
func (s server) connectError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, failed := errors.AsType[*term.Failure](err); failed {
		return err
	}
	if ctx.Err() != nil {
		return &term.Failure{Code: term.ExitInterrupted}
	}
	_, none := errors.AsType[*serviceerror.NamespaceNotFound](err)
	_, gone := errors.AsType[*serviceerror.NotFound](err)
	if none || gone {
		return &term.Failure{Code: term.ExitProvider, Found: diag.List{{Message: fmt.Sprintf("the Temporal server at %s has no namespace %q", s.address, s.namespace),
			Help: []string{"name one that it has with --namespace or TEMPORAL_NAMESPACE", "temporal operator namespace create --namespace " + text.ShellWord(s.namespace) + " makes it"}}}}
	}
	return s.unreachable(err)
}

func (s server) unreachable(err error) *term.Failure {
	why := err.Error()
	if errors.Is(err, context.DeadlineExceeded) || strings.Contains(why, "deadline exceeded") {
		why = fmt.Sprintf("it does not answer within %s", s.timeout)
	}
	return &term.Failure{Code: term.ExitProvider, Found: diag.List{{Message: fmt.Sprintf("no Temporal server is reached at %s: %s", s.address, term.OneLine(why, 300)),
		Help: []string{"agentscript temporal dev starts one on this machine", "--address or TEMPORAL_ADDRESS names another one; one that wants TLS or a key: --tls, --tls-cert-path, --api-key-file"}}}}
}

// credentials sets up TLS and the API key.
func (s server) credentials(c *term.Console, o *client.Options) *term.Failure {
	apiKey := c.Env("TEMPORAL_API_KEY")
	if s.apiKey != "" {
		data, err := os.ReadFile(s.apiKey)
		if err != nil {
			return term.Usagef("", "--api-key-file %s: %s", s.apiKey, term.FileProblem(err))
		}
		apiKey = strings.TrimSpace(string(data))
	}
	if apiKey != "" {
		c.Hide("the API key of the server", func(said string) string { return strings.ReplaceAll(said, apiKey, "[hidden]") })
		o.Credentials = client.NewAPIKeyStaticCredentials(apiKey)
	}
	if !s.secure && apiKey == "" && s.cert+s.key+s.ca+s.name == "" {
		return nil
	}
	own := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.name}
	if (s.cert == "") != (s.key == "") {
		return term.Usagef("set both", "--tls-cert-path and --tls-key-path belong together")
	}
	if s.cert != "" {
		pair, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return term.Usagef("", "--tls-cert-path %s, --tls-key-path %s: %s", s.cert, s.key, term.FileProblem(err))
		}
		own.Certificates = []tls.Certificate{pair}
	}
	if s.ca != "" {
		data, err := os.ReadFile(s.ca)
		if err != nil {
			return term.Usagef("", "--tls-ca-path %s: %s", s.ca, term.FileProblem(err))
		}
		own.RootCAs = x509.NewCertPool()
		if !own.RootCAs.AppendCertsFromPEM(data) {
			return term.Usagef("", "--tls-ca-path %s: it holds no certificate", s.ca)
		}
	}
	o.ConnectionOptions.TLS = own
	return nil
}

// store returns the store of the runs on the server.
func (v *verbs) store(ctx context.Context, pin bool) (*temporal.Store, func(), error) {
	o, problem := v.to.options(v.c)
	if problem != nil {
		return nil, nil, problem
	}
	o.Pin, o.FindWorker = pin, v.find
	if v.find < 0 {
		return nil, nil, term.Usagef("", "--find-worker must not be negative")
	}
	to, err := v.to.connect(ctx, v.c, slog.DiscardHandler)
	if err != nil {
		return nil, nil, err
	}
	s, err := temporal.NewStore(to, o)
	if err != nil {
		to.Close()
		return nil, nil, err
	}
	return s, to.Close, nil
}

// failure returns the command's failure for an error of the server. A server that is lost during a verb counts as one
// that is not reached.
func (v *verbs) failure(err error) error {
	var lost *serviceerror.Unavailable
	e, own := errors.AsType[*engine.Error](err)
	switch _, failed := errors.AsType[*term.Failure](err); {
	case failed:
		return err
	case errors.As(err, &lost):
		return v.to.withEnv(v.c).unreachable(lost)
	case own && e.Code == diag.NoWorker:
		return &term.Failure{Code: term.ExitProvider, Found: diag.List{term.Diagnose(e)}}
	}
	return setup.StoreFailure(err)
}
