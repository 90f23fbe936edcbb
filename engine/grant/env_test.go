package grant_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/grant"
)

// TestEnvByBeginning: a grant of a prefix covers exactly the names with that prefix. Each name decides whether it is a
// secret, unless the grant says so, and a grant of a single name takes precedence.
func TestEnvByBeginning(t *testing.T) {
	for name, text := range map[string]string{"GRANT_LANG": "C", "GRANT_API_TOKEN": "s3cr3t-of-grants", "GRANT_NAME": "a name to hide", "GRANTED": "no", "GRANT_OPEN_KEY": "open"} {
		t.Setenv(name, text)
	}
	g := granted(t, grant.Env("GRANT_*", "GRANT_NAME:secret", "GRANT_OPEN*:plain"), grant.Exec("env"))
	ctx := t.Context()
	gives(t, touch(t, ctx, g, "env.get", `{"name": "GRANT_LANG"}`), `"C"`)
	gives(t, touch(t, ctx, g, "env.get", `{"name": "GRANT_OPEN_KEY"}`), `"open"`)
	gives(t, touch(t, ctx, g, "env.get", `{"name": "GRANT_NOT_SET"}`), `null`)
	gives(t, touch(t, ctx, g, "env.secret", `{"name": "GRANT_API_TOKEN"}`), `true`)
	for _, secret := range []string{"GRANT_API_TOKEN", "GRANT_NAME"} {
		fails(t, touch(t, ctx, g, "env.get", `{"name": "`+secret+`"}`), diag.TouchRefused, "is a secret")
		if g.Allows(capability.Use{Kind: engine.EffectEnv, Op: "get", Target: secret}) {
			t.Errorf("%s may be read as a text", secret)
		}
	}
	for _, other := range []string{"GRANTED", "GRANT", "grant_LANG", "PATH", ""} {
		fails(t, touch(t, ctx, g, "env.get", `{"name": "`+other+`"}`), diag.UngrantedUse, "--allow-env")
	}
	out := touch(t, ctx, g, "sh.run", `{"command": ["env"]}`)
	gives(t, out, `GRANT_API_TOKEN=<secret GRANT_API_TOKEN>\nGRANT_LANG=C\nGRANT_NAME=<secret GRANT_NAME>\nGRANT_OPEN_KEY=open\nPATH=`)
	r, _ := out.Value.AsRecord()
	if text, _ := r.At(1).AsStr(); strings.Contains(text, "GRANTED=") {
		t.Errorf("a command gets\n%s", text)
	}
	for _, wrong := range []string{"A*B", "*A", "**", "A *"} {
		if _, err := grant.New(grant.Env(wrong)); err == nil {
			t.Errorf("%q is granted", wrong)
		}
	}
	if all := granted(t, grant.Env("*")); !all.Allows(capability.Use{Kind: engine.EffectEnv, Op: "get", Target: "HOME"}) || all.Allows(capability.Use{Kind: engine.EffectEnv, Op: "get", Target: "A_TOKEN"}) {
		t.Error("all that are no secrets are to be read")
	}
}
