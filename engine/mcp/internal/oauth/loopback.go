package oauth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/agentscript/agentscript/engine/remote"
)

// back is how the browser returns from a sign-in.
type back struct {
	redirect string
	await    func(context.Context, remote.SignIn) (url.Values, error)
	close    func()
}

// back determines where the browser returns to, and starts to listen there.
func (a *Authority) back(ways *remote.SignIns) (*back, error) {
	if ways.Await != nil {
		if ways.Redirect == "" {
			return nil, a.Failure("the host does not say where the browser comes back to")
		}
		return &back{redirect: ways.Redirect, close: func() {}, await: ways.Await}, nil
	}
	at := &url.URL{Scheme: "http", Host: "127.0.0.1:0", Path: "/callback"}
	if ways.Redirect != "" {
		u, err := url.Parse(ways.Redirect)
		if err != nil || u.Scheme != "http" || !remote.Confidential(ways.Redirect) || u.Port() == "" {
			return nil, a.Failure("%s is no http URL of this machine with a port, at which could be listened", ways.Redirect)
		}
		at = u
	}
	l, err := net.Listen("tcp", at.Host)
	if err != nil {
		return nil, a.Failure("it is not possible to listen for the browser: %s", err.Error())
	}
	if ways.Redirect == "" {
		at.Host = l.Addr().String()
	}
	came := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer") // the address contains a code
		h.Set("Connection", "close")
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != at.EscapedPath() || !q.Has("code") && !q.Has("error") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("You can close this window and go back to where you signed in from.\n"))
		select {
		case came <- q:
		default: // the first one counts
		}
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // until it is closed
	}()
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil { // the answer is on its way to the browser
			_ = server.Close()
		}
		<-done
	}
	return &back{redirect: at.String(), close: stop, await: func(ctx context.Context, _ remote.SignIn) (url.Values, error) {
		select {
		case q := <-came:
			return q, nil
		case <-ctx.Done():
			return nil, errors.Join(errNobody, context.Cause(ctx))
		}
	}}, nil
}

var errNobody = errors.New("no one came back")
