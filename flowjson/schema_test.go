package flowjson

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/agentscript/agentscript/diag"
)

// schemaOf compiles the schema with a third-party validator.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("flow.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("flow.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaAcceptsWhatIsSound checks that the schema for editors and the reader agree on form: what has only errors of
// form is rejected, and what the check accepts is valid.
func TestSchemaAcceptsWhatIsSound(t *testing.T) {
	s := schemaOf(t)
	var files []string
	for _, glob := range []string{"testdata/*.json", "testdata/published/*.json"} {
		found, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	sound, refused := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, found := Check(file, string(text), Options{})
		var plain []byte
		if f != nil {
			plain = f.JSON()
		} else if plain = text; !json.Valid(text) {
			continue
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		invalid := s.Validate(v)
		switch {
		case f != nil:
			if sound++; invalid != nil {
				t.Errorf("%s is sound, and its schema refuses it: %v", file, invalid)
			}
		case misshapen(found):
			if refused++; invalid == nil {
				t.Errorf("%s has %v, and its schema accepts it", file, found)
			}
		}
	}
	if sound < 8 || refused < 4 {
		t.Errorf("%d sound and %d misshapen files were looked at", sound, refused)
	}
}

// misshapen reports whether an error is one of form.
func misshapen(found diag.List) bool {
	for _, d := range found {
		if d.Severity == diag.Error && d.Code == diag.FlowField {
			return true
		}
	}
	return false
}

// TestJSONAgain checks that a flow that was read is written unchanged: all members, in their order, whether they are
// read or not.
func TestJSONAgain(t *testing.T) {
	files, err := filepath.Glob("testdata/published/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := Parse(file, string(text), Options{})
		if f == nil {
			continue
		}
		var want bytes.Buffer
		if err := json.Compact(&want, text); err != nil {
			t.Fatal(err)
		}
		got := f.JSON()
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s:\ngot  %s\nwant %s", file, got, want.Bytes())
		}
	}
	f, found := Parse("f.json", `{"x-mine": {"z": 1, "a": [1.50, "é<"]}, "id": "f", "version": "1", "agents": [{"name": "a", "type": "task", "params": {"task": "t", "more": null}}]}`, Options{})
	if f == nil {
		t.Fatal(found)
	}
	if got := f.JSON(); string(got) != `{"x-mine":{"z":1,"a":[1.50,"é<"]},"id":"f","version":"1","agents":[{"name":"a","type":"task","params":{"task":"t","more":null}}]}` {
		t.Errorf("got %s", got)
	}
}
