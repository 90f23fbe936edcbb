package arch

import (
	"go/ast"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxOverview bounds the lines of `go doc` for a package that every host reads.
const maxOverview = 130

// Promise 25.11 (packages): `go doc` of the root package and of `engine` has at most 130 lines each. The programs and
// examples for hosts import the root package and the packages that they choose, never the packages that run flows.
// Everything that a package exports is referred to outside of it or documented.
func TestPromise_25_11_PublicFace(t *testing.T) {
	for _, pkg := range []string{".", "./engine"} {
		cmd := exec.Command("go", "doc", pkg)
		cmd.Dir = root(t)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go doc %s: %v\n%s", pkg, err, out)
		}
		if n := len(strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })); n > maxOverview {
			t.Errorf("go doc %s has %d lines, more than %d", pkg, n, maxOverview)
		}
	}
	pages := documentation(t)
	all := sources(t)
	fail(t, behindTheFace(all, read(t, "docs/embedding.md")))
	fail(t, unnamed(all, pages))
}

// documentation returns the text of all pages for users.
func documentation(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "README.md")
	for _, page := range pages {
		text += read(t, "docs/"+filepath.Base(page))
	}
	return text
}

// behindTheFace returns the imports of packages that run flows, in examples for hosts and on the hosts' page.
func behindTheFace(all []*Source, page string) []Finding {
	behind := own("engine/flow", "engine/run", "engine/sched", "engine/internal/...", "internal/...")
	var found []Finding
	check := func(where, path string) {
		if matchAny(behind, path) {
			found = append(found, Finding{where, "imports " + path + ", which the root package stands before"})
		}
	}
	for _, s := range all {
		if s.Dir() == "." && strings.HasPrefix(s.Rel, "example") {
			for _, i := range s.File.Imports {
				if path, err := strconv.Unquote(i.Path.Value); err == nil {
					check(s.Rel, path)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*"(`+regexp.QuoteMeta(module)+`[^"]*)"$`).FindAllStringSubmatch(page, -1) {
		check("docs/embedding.md", m[1])
	}
	return found
}

// unnamed returns the exported functions and methods of public packages that no file of another directory and no page
// names. Examples are next to the package that they show.
func unnamed(all []*Source, pages string) []Finding {
	named := map[string][]string{} // by name, the directories of files that select it
	for _, s := range all {
		dir := s.Dir()
		if strings.HasPrefix(filepath.Base(s.Rel), "example") {
			dir = "example"
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && !slices.Contains(named[sel.Sel.Name], dir) {
				named[sel.Sel.Name] = append(named[sel.Sel.Name], dir)
			}
			return true
		})
	}
	for _, m := range regexp.MustCompile(`\b\w+\.([A-Z]\w*)`).FindAllStringSubmatch(pages, -1) {
		named[m[1]] = append(named[m[1]], "docs")
	}
	var found []Finding
	for _, s := range all {
		if s.Test() || strings.Contains("/"+s.Rel, "/internal/") || strings.HasPrefix(s.Rel, "bench/") {
			continue
		}
		for _, d := range s.File.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Recv != nil && !ast.IsExported(receiver(f)) {
				continue
			}
			if !slices.ContainsFunc(named[f.Name.Name], func(dir string) bool { return dir != s.Dir() }) {
				found = append(found, s.at(f.Pos(), "nothing outside of the package names "+f.Name.Name))
			}
		}
	}
	return found
}

// receiver returns the name of a method's receiver type.
func receiver(f *ast.FuncDecl) string {
	typ := f.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
