// Package sarif checks the output of `check --format sarif` against the published JSON Schema of the format, with a
// third-party validator. It is in this module so that the product does not depend on the validator.
package sarif

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/xeipuuv/gojsonschema"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// TestSchema validates the findings of every faulty script in the corpus.
func TestSchema(t *testing.T) {
	files, err := filepath.Glob("../../starlib/testdata/errors/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	schema := published(t)
	var all diag.List
	for _, file := range files {
		_, found := starlib.Load(context.Background(), starlib.Options{FS: os.DirFS(filepath.Dir(file)), Entry: filepath.Base(file), Dir: "some dir"})
		all = append(all, found...)
		validate(t, schema, file, found)
	}
	for _, file := range []string{"/abs/x.star", `C:\dir\x.star`, "../x.star", "a#b?.star"} {
		all.Add(&diag.Diagnostic{Message: "somewhere", Span: diag.Span{Pos: diag.Pos{File: file, Line: 1, Col: 1}}})
	}
	all.Add(&diag.Diagnostic{Message: "about no file"})
	validate(t, schema, "all", all)
	validate(t, schema, "nothing", nil)
}

// published returns the JSON Schema of SARIF 2.1.0, which the library has as a constant.
func published(t *testing.T) *gojsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", reflect.TypeFor[sarif.Report]().PkgPath()).Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && text == "" {
			text, err = strconv.Unquote(lit.Value)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *gojsonschema.Schema, name string, found diag.List) {
	t.Helper()
	var b bytes.Buffer
	if err := diag.SARIF(&b, found, "1.0"); err != nil {
		t.Fatal(name, err)
	}
	result, err := schema.Validate(gojsonschema.NewBytesLoader(b.Bytes()))
	if err != nil {
		t.Fatal(name, err)
	}
	for _, e := range result.Errors() {
		t.Errorf("%s: %s", name, e)
	}
	report, err := sarif.FromBytes(b.Bytes())
	if err != nil {
		t.Fatal(name, err)
	}
	if len(report.Runs) != 1 || len(report.Runs[0].Results) != len(found) {
		t.Errorf("%s: not all results came through", name)
	}
}
