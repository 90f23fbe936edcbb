package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// What a path or an address leads to is known to the tool alone: it has a working directory, links and
// mail servers. So a rule that forbids takes what it cannot know for what it forbids.

// mayBe reports whether a path that is given from elsewhere than the glob may be one that the glob names:
// one that climbs, or is absolute where the glob is relative, leads anywhere. Of a glob without a slash
// the name of the file is compared.
func (g *glob) mayBe(text string) bool {
	if strings.Contains(g.text, "://") { // no path but an address
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

// fromFileURL is the path of a file:// address, which may name this machine.
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

// absolute reports whether a path begins at a root, of a drive too.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// anywhere reports whether a path begins with what stands for another: a home, a variable, a link that
// the kernel makes up.
func anywhere(p string) bool {
	return slices.ContainsFunc([]string{"~", "$", "/proc/", "/dev/fd/"}, func(begin string) bool { return strings.HasPrefix(p, begin) })
}

// addresses are the parts of a text that hold an @: one text may name several receivers.
func addresses(text string) []string {
	parts := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(",;<>\"|?&", r)
	})
	return slices.DeleteFunc(parts, func(s string) bool { return !strings.Contains(s, "@") })
}

// atSigns are the characters that programs take for an @.
var atSigns = strings.NewReplacer("\uff20", "@", "\ufe6b", "@")

// ambiguous reports whether an address has several @: which of them ends the name is for each mail server
// to say.
func ambiguous(address string) bool { return strings.Count(atSigns.Replace(address), "@") > 1 }

// hops are an address and what it may come to where it has several @.
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
