package transcript

import (
	"cmp"
	"maps"
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/sorting"
)

// version is one value of a name.
type version struct {
	name string
	as   string // the name in the file
	by   *piece // the piece that binds it
	held Held
}

// piece is a statement that may be written to the file.
type piece struct {
	*source
	st   *Statement
	at   place
	read map[string]*version // versions read when the statement is evaluated
	late map[string]*version // versions read when its functions are called; nil for a name that was not bound yet
	bind map[string]*version

	held     map[string]bool // names that it reads and that its value keeps
	observed bool            // something has used its value
	kept     bool            // it is written
	main     bool            // inside the function
	literal  bool            // as data
	shown    bool            // it is written, though nothing reads it
	hoisted  map[string]*version
}

// place orders pieces: by the statement of the session, then by when they were made.
type place struct{ statement, made int }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.statement, q.statement), cmp.Compare(p.made, q.made))
}

// builder turns a session into pieces.
type builder struct {
	Options
	pieces           []*piece
	now              map[string]*version // the current versions of names
	statements, made int
}

// sorted returns pieces in the order of the file.
func (b *builder) sorted() []*piece {
	sorting.By(b.pieces, func(p, q *piece) int { return p.at.compare(q.at) })
	return b.pieces
}

// next returns the place after all others of a statement.
func (b *builder) next(statement int) place {
	b.made++
	return place{statement, b.made}
}

// add adds a statement of the session.
func (b *builder) add(st *Statement) {
	p := &piece{source: read(st.Text), st: st, read: map[string]*version{}, late: map[string]*version{}, bind: map[string]*version{}, held: map[string]bool{}}
	b.statements++
	p.at = b.next(b.statements)
	for _, o := range p.names {
		if old := b.now[o.id.Name]; o.bound && old != nil && (o.within || o.loop && same(old.held, st.Held[o.id.Name])) {
			p.read[o.id.Name], p.block = old, true // the name may still have this version
		}
	}
	for _, o := range p.names {
		name := o.id.Name
		switch {
		case o.bound || o.behind && !p.block:
		case o.late:
			p.late[name] = b.now[name]
		case b.now[name] != nil:
			p.read[name] = b.now[name]
		}
	}
	p.grows(b)
	for name, held := range p.st.Held {
		if name != Result || !st.Value {
			p.bind[name] = &version{name: name, by: p, held: held}
		}
	}
	if held, ok := p.st.Held[Result]; ok && st.Value {
		p.bind[Result] = &version{name: "result", by: p, held: held}
	}
	for name, v := range p.bind {
		if _, reads := p.late[name]; reads || p.self {
			continue
		}
		for _, o := range p.names {
			if o.late && o.id.Name == name {
				p.late[name] = v // a function that calls itself
			}
		}
	}
	b.observe(p)
	b.pieces = append(b.pieces, p)
	for _, name := range slices.Sorted(maps.Keys(p.bind)) {
		b.set(name, p.bind[name], p)
	}
}

// same reports whether two values are written the same.
func same(a, b Held) bool {
	one, ok := Literal(a.Data, nil)
	two, too := Literal(b.Data, nil)
	return ok && too && one == two
}

// grows makes xs += [1] a change of the list, without a new version.
func (p *piece) grows(b *builder) {
	if !p.self {
		return
	}
	for name := range p.st.Held {
		if v := b.now[name]; v != nil && p.inPlace(v) {
			p.st = &Statement{Text: p.st.Text, Ran: p.st.Ran, Changed: true}
		}
	}
}

// observe records what a statement uses when it is evaluated: those values must stay, whatever their functions read
// later.
func (b *builder) observe(p *piece) {
	uses := p.st.Ran || len(p.bind) == 0 || p.defines()
	makes := false
	for _, v := range p.bind {
		uses = uses || v.held.Kind == Data
		makes = makes || v.held.Kind == Function
	}
	for _, o := range p.names {
		name := o.id.Name
		v := p.read[name]
		if o.bound || o.late || v == nil {
			continue
		}
		if uses || o.called && !makes {
			observed(v)
			continue
		}
		p.held[name] = true
	}
}

// defines reports whether a piece is a function, which reads names immediately only for its defaults.
func (p *piece) defines() bool {
	if p.tree == nil {
		return false
	}
	_, is := p.tree.Stmts[0].(*syntax.DefStmt)
	return is
}

func observed(v *version) {
	if v == nil || v.by.observed {
		return
	}
	p := v.by
	p.observed = true
	for name := range p.held {
		observed(p.read[name])
	}
	for _, v := range p.late {
		observed(v)
	}
}

// set gives a name a new version. Functions that read the name see the new version, so those that were used before are
// written once more.
func (b *builder) set(name string, v *version, by *piece) {
	if name == Result && by.st.Value {
		for _, result := range b.Results {
			before := b.now[result]
			if b.now[result] = v; before == nil {
				break
			}
			v = before
		}
		return
	}
	old := b.now[name]
	b.now[name] = v
	if old == nil {
		for _, p := range b.pieces {
			if read, late := p.late[name]; late && read == nil {
				p.late[name] = v
			}
		}
		return
	}
	b.renew(name, old, v, by)
}

// renew makes every reachable piece that reads a name when it is called read the new version.
func (b *builder) renew(name string, old, v *version, by *piece) {
	var reached, affected []*piece
	for _, known := range b.now {
		reached = reach(known, reached)
	}
	affects := map[*piece]bool{}
	for more := true; more; {
		more = false
		for _, p := range reached {
			if affects[p] || p == by {
				continue
			}
			hit := p.late[name] == old && old != nil
			for _, late := range p.late {
				hit = hit || late != nil && affects[late.by]
			}
			for held := range p.held {
				hit = hit || affects[p.read[held].by]
			}
			if hit {
				affects[p], more = true, true
				affected = append(affected, p)
			}
		}
	}
	slices.SortFunc(affected, func(p, q *piece) int { return p.at.compare(q.at) })
	renewed := map[*version]*version{}
	news := make([]*piece, len(affected))
	for i, p := range affected {
		news[i] = p
		if p.observed {
			news[i] = b.clone(p, by.at.statement, renewed)
		}
	}
	for _, p := range news {
		for read, late := range p.late {
			if p.late[read] = cmp.Or(renewed[late], late); read == name && late == old {
				p.late[read] = v
			}
		}
		for held := range p.held {
			p.read[held] = cmp.Or(renewed[p.read[held]], p.read[held])
			if p.read[held].by.at.compare(p.at) > 0 {
				p.at = b.next(by.at.statement)
			}
		}
	}
	for known, is := range b.now {
		b.now[known] = cmp.Or(renewed[is], is)
	}
}

// clone adds a copy of a piece.
func (b *builder) clone(p *piece, statement int, renewed map[*version]*version) *piece {
	c := *p
	c.at, c.observed = b.next(statement), false
	c.read, c.late, c.bind = maps.Clone(p.read), maps.Clone(p.late), map[string]*version{}
	for name, v := range p.bind {
		w := *v
		w.by = &c
		c.bind[name] = &w
		renewed[v] = &w
	}
	b.pieces = append(b.pieces, &c)
	return &c
}

// reach adds the pieces that a value is made of and keeps.
func reach(v *version, reached []*piece) []*piece {
	if v == nil || slices.Contains(reached, v.by) {
		return reached
	}
	reached = append(reached, v.by)
	for name := range v.by.held {
		reached = reach(v.by.read[name], reached)
	}
	for _, late := range v.by.late {
		reached = reach(late, reached)
	}
	return reached
}

// uses calls f with all versions that a piece reads.
func (p *piece) uses(f func(v *version)) {
	if p.literal {
		return
	}
	for _, all := range []map[string]*version{p.read, p.late} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if v := all[name]; v != nil {
				f(v)
			}
		}
	}
}

// keep decides what is written: what ran, the last version of each name, everything that those read, and what changed
// it.
func (b *builder) keep() {
	var need func(p *piece)
	need = func(p *piece) {
		if !p.kept {
			p.kept = true
			p.uses(func(v *version) { need(v.by) })
		}
	}
	for name, v := range b.now {
		if !slices.Contains(b.Results, name) || v.name == name {
			need(v.by)
		}
	}
	for _, p := range b.pieces {
		if p.st.Ran || p.st.Prints && !p.helps() {
			need(p)
		}
	}
	of := b.groups(func(v *version) bool { return !v.held.atomic() })
	for more := true; more; {
		more = false
		alive := map[*version]bool{}
		for _, p := range b.pieces {
			for _, v := range p.bind {
				alive[of(v)] = alive[of(v)] || p.kept
			}
		}
		for _, p := range b.pieces {
			if p.st.Changed && !p.kept {
				p.uses(func(v *version) {
					if alive[of(v)] && !v.held.atomic() && !p.kept {
						need(p)
						more = true
					}
				})
			}
		}
	}
}

// helps reports whether a piece asks for help, whose text is only for the prompt.
func (p *piece) helps() bool {
	if p.tree == nil {
		return false
	}
	stmt, ok := p.tree.Stmts[0].(*syntax.ExprStmt)
	if !ok {
		return false
	}
	call, ok := stmt.X.(*syntax.CallExpr)
	if !ok {
		return false
	}
	fn, ok := call.Fn.(*syntax.Ident)
	return ok && fn.Name == "help" && p.read[fn.Name] == nil
}

// groups joins the versions that may hold one another. of returns the representative of a version's group.
func (b *builder) groups(may func(v *version) bool) (of func(v *version) *version) {
	parent := map[*version]*version{}
	of = func(v *version) *version {
		for parent[v] != nil {
			v = parent[v]
		}
		return v
	}
	for _, p := range b.pieces {
		var first *version
		join := func(v *version) {
			if !may(v) {
				return
			}
			if first == nil {
				first = v
			}
			if r := of(v); r != of(first) {
				parent[r] = of(first)
			}
		}
		p.uses(join)
		for _, v := range p.bind {
			join(v)
		}
	}
	return of
}
