package oauth

import (
	"slices"
	"testing"

	"golang.org/x/oauth2"
)

// The scopes of a token are those in its answer, else the requested ones.
func TestScopesOfTokens(t *testing.T) {
	asked := kept{Scopes: []string{"a"}, Refresh: "r"}
	if k := asked.got(&oauth2.Token{AccessToken: "t"}); !slices.Equal(k.Scopes, []string{"a"}) || k.Refresh != "r" || k.Access != "t" {
		t.Errorf("%+v", k)
	}
	said := (&oauth2.Token{AccessToken: "t", RefreshToken: "s"}).WithExtra(map[string]any{"scope": "b c"})
	if k := asked.got(said); !slices.Equal(k.Scopes, []string{"b", "c"}) || k.Refresh != "s" {
		t.Errorf("%+v", k)
	}
}
