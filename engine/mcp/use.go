package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

var errNothing = errors.New("the host allows nothing")

// String names the use: `start "npx"`.
func (u Use) String() string {
	verb := map[string]string{"exec": "start", "net": "talk to", "env": "read the secret"}[u.Kind]
	return fmt.Sprintf("%s %q", verb, u.Target)
}

// flag is what grants the use on the command line.
func (u Use) flag() string {
	if u.Kind != "exec" && u.Kind != "net" && u.Kind != "env" {
		return ""
	}
	return "--allow-" + u.Kind + " " + u.Target
}

// Allowing allows the uses that are named: an option for [WithAllow].
func Allowing(uses ...Use) func(Use) error {
	return func(u Use) error {
		if slices.Contains(uses, u) {
			return nil
		}
		return errors.New("it was not granted")
	}
}

// hostOf is the host of a URL as grants name it: in lower case, with its port when that is not
// the scheme's own.
func hostOf(u *url.URL) string {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && u.Scheme+port != "http80" && u.Scheme+port != "https443" {
		host += ":" + port
	}
	return host
}
