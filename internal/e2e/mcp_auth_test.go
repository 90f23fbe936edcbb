//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// probeAuth does what a scenario of OAuth requires from a client: it uses a program's account if there is one, and
// otherwise a person who agrees to everything. It lists the tools and calls one.
func probeAuth(url, scenario, given string) error {
	var account struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Key    string `json:"private_key_pem"`
	}
	if given != "" {
		if err := json.Unmarshal([]byte(given), &account); err != nil {
			return err
		}
	}
	how := &remote.OAuth{Grant: remote.GrantAuthorizationCode, ID: account.ID}
	if strings.HasPrefix(scenario, "auth/client-credentials") {
		how.Grant = remote.GrantClientCredentials
	}
	if account.Secret != "" {
		how.Secret = "SECRET"
	}
	if account.Key != "" {
		how.Key = "KEY"
	}
	c := mcp.New(mcp.WithAllow(func(capability.Use) error { return nil }),
		mcp.WithSecrets(func(name string) (string, bool) {
			value, ok := map[string]string{"SECRET": account.Secret, "KEY": account.Key}[name]
			return value, ok
		}),
		mcp.WithSignIn(mcp.SignIns{ClientID: "https://conformance-test.local/client-metadata.json", Show: func(ctx context.Context, s mcp.SignIn) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address, nil)
			if err != nil {
				return err
			}
			res, err := http.DefaultClient.Do(req) // and back to the listener
			if err != nil {
				return err
			}
			return res.Body.Close()
		}}))
	defer c.Close()
	spec := &remote.Server{Name: "suite", URL: url, Transport: remote.TransportHTTP, OAuth: how}
	if out := c.Do(context.Background(), &engine.Effect{Kind: engine.EffectMCP, Name: "suite", Req: &remote.ListRequest{Server: spec}}, nil); out.Err != nil {
		return out.Err
	}
	args := lenient.Decode(generable.AnyT, `{}`, generable.Options{}).Value
	out := c.Do(context.Background(), &engine.Effect{Kind: engine.EffectTool, Name: "suite.test-tool", Req: &engine.ToolRequest{Args: args, Server: spec, Tool: "test-tool"}}, nil)
	if out.Err != nil {
		return out.Err
	}
	return nil
}

// leftOut are scenarios of OAuth that are not required, and why.
var leftOut = map[string]string{
	"auth/2025-03-26-oauth-metadata-backcompat": "its authorization server names itself otherwise than by where it is found, which RFC 8414, 3.3 has clients refuse",
	"auth/cross-app-access-complete-flow":       "the enterprise's own sign-in (ID-JAG) is not built",
}

// The protocol's own suite for clients that sign in: every scenario that it lists is judged, or printed as left out.
func TestMCPConformanceOfSignIn(t *testing.T) {
	node, suite := mcpSuite(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listed, err := exec.Command(node, suite, "list", "--client").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, listed)
	}
	scenarios := regexp.MustCompile(`auth/[\w.-]+`).FindAllString(string(listed), -1)
	if len(scenarios) < 15 {
		t.Fatalf("the suite lists %q", scenarios)
	}
	for _, scenario := range scenarios {
		t.Run(scenario, func(t *testing.T) {
			if why := leftOut[scenario]; why != "" {
				t.Skipf("SKIPPED: %s: %s", scenario, why)
			}
			judge(t, node, suite, exe, scenario)
		})
	}
}
