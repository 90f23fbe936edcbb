package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Only the tool knows where a path or an address leads: it has a working directory, links and mail servers. A rule that
// forbids therefore treats what it cannot know as forbidden.

// mayBe reports whether a path with another base than the glob may be one that the glob names: a path that climbs, or
// is absolute where the glob is relative, may lead anywhere. For a glob without a slash only the file name is compared.
func (g *glob) mayBe(text string) bool {
	if strings.Contains(g.text, "://") { // an address, not a path
		return false
	}
	text, isURL := fromFileURL(text)
	at := path.Clean(text)
	switch {
	case at == "..", strings.HasPrefix(at, "../"), anywhere(at):
	case !isURL && !absolute(at), absolute(g.text), strings.HasPrefix(g.text, "*"):
		if !isURL {
			return false
		}
		own := g.cleaned()
		return own.match(at, true)
	}
	return strings.Contains(g.text, "/") || g.match(path.Base(at), true)
}

// fromFileURL returns the path of a file:// URL, which may name this machine as its host.
func fromFileURL(text string) (at string, ok bool) {
	const scheme = "file:"
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return text, false
	}
	at, _, _ = strings.Cut(text[len(scheme):], "?")
	at, _, _ = strings.Cut(at, "#")
	if rest, host := strings.CutPrefix(at, "//"); host {
		_, at, _ = strings.Cut(rest, "/")
	}
	return "/" + strings.TrimLeft(at, "/"), true
}

// absolute reports whether a path begins at a root, including that of a drive.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// anywhere reports whether a path begins with a name for another path: a home directory, a variable, a link that the
// kernel resolves.
func anywhere(p string) bool {
	return slices.ContainsFunc([]string{"~", "$", "/proc/", "/dev/fd/"}, func(begin string) bool { return strings.HasPrefix(p, begin) })
}

// addresses returns the parts of a text that contain an @: one text may name several receivers.
func addresses(text string) []string {
	parts := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(",;<>\"|?&", r)
	})
	return slices.DeleteFunc(parts, func(s string) bool { return !strings.Contains(s, "@") })
}

// atSigns replaces the characters that programs treat as an @.
var atSigns = strings.NewReplacer("\uff20", "@", "\ufe6b", "@")

// ambiguous reports whether an address has several @. Mail servers differ on which of them ends the name.
func ambiguous(address string) bool { return strings.Count(atSigns.Replace(address), "@") > 1 }

// hops returns an address and, if it has several @, the addresses that it may lead to.
func hops(address string) []string {
	all := []string{address}
	if !ambiguous(address) {
		return all
	}
	parts := strings.Split(atSigns.Replace(address), "@")
	for i := range parts[1:] {
		all = append(all, parts[i]+"@"+parts[i+1])
	}
	return all
}
