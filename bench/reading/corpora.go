package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
)

// modules are ports that publish their tests with their code. The tests contain the texts of the original projects.
var modules = []string{"github.com/kaptinlin/jsonrepair", "github.com/RealAlexandreAI/json-repair"}

// spec is the npm package that publishes its tests; the other packages do not.
const spec = "best-effort-json-parser"

// published returns the texts of all tests that the peers publish.
func published(node string) ([]text, error) {
	texts, err := corpora()
	if err != nil {
		return nil, err
	}
	out, err := runNode(node, nil, "corpus")
	if err != nil {
		return nil, err
	}
	lines := json.NewDecoder(bytes.NewReader(out))
	for lines.More() {
		t := text{Family: spec, cut: true}
		if err := lines.Decode(&t); err != nil {
			return nil, err
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// corpora reads the texts from the tests of the modules in the module cache.
func corpora() ([]text, error) {
	var texts []text
	for _, module := range modules {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			return nil, fmt.Errorf("go list -m %s: %w", module, err)
		}
		file := filepath.Join(strings.TrimSpace(string(dir)), "jsonrepair_test.go")
		tests, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(tests, func(n ast.Node) bool {
			in, want, ok := row(n)
			if ok && json.Valid([]byte(want)) {
				texts = append(texts, text{Family: module, Text: in, Want: json.RawMessage(want)})
			}
			return true
		})
	}
	return texts, nil
}

// row returns a text and its value from a call of an assertion or from a literal in a table.
func row(n ast.Node) (in, want string, ok bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		name, isName := n.Fun.(*ast.Ident)
		if !isName || !strings.HasPrefix(name.Name, "assertRepair") || len(n.Args) < 2 {
			return "", "", false
		}
		in, ok = literal(n.Args[1])
		if want = in; len(n.Args) == 3 {
			var isText bool
			want, isText = literal(n.Args[2])
			ok = ok && isText
		}
		return in, want, ok
	case *ast.CompositeLit:
		values := map[string]string{}
		for _, e := range n.Elts {
			if pair, isPair := e.(*ast.KeyValueExpr); isPair {
				if key, isName := pair.Key.(*ast.Ident); isName {
					if v, isText := literal(pair.Value); isText {
						values[key.Name] = v
					}
				}
			}
		}
		in, ok = values["in"]
		return in, values["want"], ok
	}
	return "", "", false
}

// literal returns the text of a string literal or of a concatenation of literals.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if v := constant.MakeFromLiteral(e.Value, e.Kind, 0); v.Kind() == constant.String {
			return constant.StringVal(v), true
		}
	case *ast.BinaryExpr:
		a, ok1 := literal(e.X)
		b, ok2 := literal(e.Y)
		return a + b, ok1 && ok2
	}
	return "", false
}
