package jsonschema

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// notSchemas are the keywords whose values are not schemas.
var notSchemas = map[string]bool{"const": true, "enum": true, "default": true, "examples": true, "example": true, "required": true}

// index collects the ids and anchors of a schema.
func (im *importer) index(v generable.Value, at string, depth int) {
	if depth > maxSchemaDepth {
		if len(im.errs) == 0 {
			im.fail("#", "a schema nested at most "+strconv.Itoa(maxSchemaDepth)+" deep", "a deeper one", "")
		}
		return
	}
	if list, ok := v.AsList(); ok {
		for _, item := range list.Items() {
			im.index(item, at, depth+1)
		}
	}
	if m, ok := v.AsMap(); ok {
		if im.anchors == nil {
			im.anchors = make(map[string]*generable.Map)
		}
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if s := stringAt(m, key); s != "" {
				im.anchor("#"+s, m)
			}
		}
		for _, key := range []string{"$id", "id"} {
			id := stringAt(m, key)
			if id == "" {
				continue
			}
			if depth == 0 {
				im.base = id
			}
			im.anchor(strings.TrimSuffix(im.absolute(id), "#"), m)
		}
		for key, part := range m.All() {
			if !notSchemas[key] && (part.Kind() == generable.MapKind || part.Kind() == generable.ListKind) {
				im.index(part, at, depth+1)
			}
		}
	}
}

func (im *importer) anchor(name string, m *generable.Map) {
	if _, taken := im.anchors[name]; !taken {
		im.anchors[name] = m
	}
}

// absolute resolves a reference against the root's id.
func (im *importer) absolute(ref string) string {
	base, err := url.Parse(im.base)
	if err != nil {
		return ref
	}
	u, err := base.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}

var refKeywords = []string{"$ref", "$dynamicRef", "$recursiveRef"}

// refOf returns what an object refers to, by any of the reference keywords.
func refOf(m *generable.Map) (ref, key string, ok bool) {
	for _, key := range refKeywords {
		if v, has := m.Get(key); has {
			s, isStr := v.AsStr()
			if !isStr {
				s = v.TypeName()
			}
			return s, key, true
		}
	}
	return "", "", false
}

// resolve finds the target of a reference at a place. It reports false, and records an error, if the target does not
// exist.
func (im *importer) resolve(ref, at string) (target generable.Value, path string, ok bool) {
	doc, fragment, _ := strings.Cut(ref, "#")
	target, path = im.root, "#"
	if doc != "" {
		m := im.anchors[im.absolute(doc)]
		if m == nil {
			im.fail(at, "a reference into the schema itself", message.Quote(ref), "other documents are not fetched: put what they hold under $defs")
			return generable.Value{}, "", false
		}
		target, path = m.Value(), doc+"#"
	}
	if f, err := url.PathUnescape(fragment); err == nil {
		fragment = f
	}
	switch {
	case fragment == "":
	case fragment[0] != '/':
		m := im.anchors["#"+fragment]
		if m == nil {
			im.fail(at, "a reference to something", message.Quote(ref)+", an anchor that is not there", "")
			return generable.Value{}, "", false
		}
		target, path = m.Value(), "#"+fragment
	default:
		name := ""
		for step := range strings.SplitSeq(fragment[1:], "/") {
			name = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
			next, found := member(target, name)
			if !found {
				im.fail(at, "a reference to something", message.Quote(ref)+": "+path+" has no "+message.Quote(name), im.nearDef(name))
				return generable.Value{}, "", false
			}
			target, path = next, path+"/"+step
		}
		if m, ok := target.AsMap(); ok && im.use(m).name == "" {
			im.use(m).name = name
		}
	}
	return target, path, true
}

func member(v generable.Value, name string) (generable.Value, bool) {
	if m, ok := v.AsMap(); ok {
		return m.Get(name)
	}
	if l, ok := v.AsList(); ok {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < l.Len() {
			return l.At(i), true
		}
	}
	return generable.Value{}, false
}

// nearDef suggests a definition with a similar name.
func (im *importer) nearDef(name string) string {
	root, ok := im.root.AsMap()
	if !ok || len(im.errs) >= message.MaxErrors {
		return ""
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := root.Get(key)
		if d, ok := defs.AsMap(); ok {
			if hint := message.DidYouMean(name, d.Keys()); hint != "" {
				return hint
			}
		}
	}
	return ""
}

// annotations are the keywords that do not affect which values fit.
var annotations = map[string]bool{
	"title": true, "description": true, "default": true, "examples": true, "example": true, "deprecated": true,
	"readOnly": true, "writeOnly": true, "$comment": true, "$id": true, "id": true, "$schema": true, "$anchor": true, "$dynamicAnchor": true,
	"$recursiveAnchor": true, "$vocabulary": true, "$defs": true, "definitions": true, "nullable": true, "externalDocs": true, "xml": true,
	"contentEncoding": true, "contentMediaType": true, "contentSchema": true,
}

// onlyRef finds the schema that m stands for if m itself adds nothing: a reference, or an allOf of a single schema.
// The target is null if it does not exist, which has been reported.
func (im *importer) onlyRef(m *generable.Map, at string) (target generable.Value, path string, ok bool) {
	ref, key, isRef := refOf(m)
	if !isRef {
		key = "allOf"
	}
	for _, k := range m.Keys() {
		if k != key && !annotations[k] && !strings.HasPrefix(k, "x-") {
			return generable.Value{}, "", false
		}
	}
	if isRef {
		target, path, found := im.resolve(ref, pointer(at, key))
		if !found {
			return generable.Value{}, "", true
		}
		return target, path, true
	}
	if all, _ := listAt(m, "allOf"); len(all) == 1 {
		if part, isMap := all[0].AsMap(); isMap {
			if u := im.use(part); u.name == "" {
				u.name = im.use(m).name
			}
		}
		return all[0], pointer(at, "allOf") + "/0", true
	}
	return generable.Value{}, "", false
}
